/*
 * matrix_table.c - what becomes of each feature between any two revisions.
 *
 * One list of rules for each feature; the first that holds for a pair of
 * revisions is its cell. The last rule of a list holds for the pairs that are
 * left. Features that the server begins (logs, questions) are nothing to a
 * server that does not have them, and lost on a client that does not; features
 * that the client begins the other way round.
 */
#include "cmd/matrix_table.h"

#define L1 FL_REVISION_2024_11_05
#define L2 FL_REVISION_2025_03_26
#define L3 FL_REVISION_2025_06_18
#define L4 FL_REVISION_2025_11_25
#define M FL_REVISION_2026_07_28

#define NONE FL_OUTCOME_NONE
#define CARRIED FL_OUTCOME_CARRIED
#define MADE FL_OUTCOME_SYNTHESISED
#define LOST FL_OUTCOME_LOST

static const fl_matrix_rule tools[] = {
    {L1,
     L2,
     L3,
     M,
     CARRIED,
     "what the client cannot read (audio, links, icons) is told in words it "
     "can",
     {"an older client is given what it can read"}},
    {L1,
     L4,
     M,
     M,
     CARRIED,
     "what 2026-07-28 adds to results is taken out",
     {"case 4", "case 5"}},
    {M,
     M,
     L1,
     L4,
     CARRIED,
     "what 2026-07-28 wants on results is added; nothing of it is told to the "
     "server",
     {"case 1", "case 2", "case 3"}},
    {L1, M, L1, M, CARRIED, "as they are", {0}},
};

static const fl_matrix_rule resources[] = {
    {L1,
     M,
     L1,
     M,
     CARRIED,
     "as they are; one that is missing has the number of the client's era",
     {"case 43", "case 44"}},
};

static const fl_matrix_rule prompts[] = {
    {L1, M, L1, M, CARRIED, "as they are", {0}},
};

static const fl_matrix_rule structured[] = {
    {L1, M, L1, L2, NONE, "the server's revision has none", {0}},
    {L1,
     L2,
     L3,
     M,
     MADE,
     "given as text, where there is no other",
     {"an older client is given what it can read"}},
    {L3,
     L4,
     M,
     M,
     CARRIED,
     "objects as they are; what is none is wrapped in one",
     {"case 53"}},
    {L1, M, L1, M, CARRIED, "as it is", {0}},
};

static const fl_matrix_rule progress[] = {
    {L1,
     M,
     L1,
     M,
     CARRIED,
     "under a token of the gateway's, and back under the client's",
     {"a call that makes progress is not ended"}},
};

static const fl_matrix_rule cancellation[] = {
    {M,
     M,
     L1,
     L4,
     CARRIED,
     "closing a stream becomes notifications/cancelled",
     {"case 36", "case 37"}},
    {L1,
     L4,
     M,
     M,
     CARRIED,
     "notifications/cancelled closes a stream, where there are streams",
     {"a session that is deleted ends its calls upstream"}},
    {L1,
     M,
     L1,
     M,
     CARRIED,
     "under the gateway's id",
     {"a connection that is closed ends its calls upstream"}},
};

static const fl_matrix_rule logs[] = {
    {L1,
     L4,
     M,
     M,
     MADE,
     "the level that was set goes with every later request",
     {"case 50"}},
    {M,
     M,
     L1,
     L4,
     MADE,
     "a request's level is set for its session; what comes between requests "
     "is dropped",
     {"case 41"}},
    {M,
     M,
     M,
     M,
     CARRIED,
     "with the request that asked for them",
     {"a level nobody set is not sent, and logs are not given"}},
    {L1, M, L1, M, CARRIED, "as they are", {0}},
};

static const fl_matrix_rule sampling[] = {
    {L1,
     L4,
     M,
     M,
     MADE,
     "a round becomes a request to the client, on the stream of its call",
     {"case 46", "all that is wanted at once is asked at once"}},
    {M,
     M,
     L1,
     L4,
     MADE,
     "a request becomes a round of the call that runs, which is parked",
     {"case 26", "case 27", "case 29"}},
    {L1, M, L1, M, CARRIED, "under ids of the gateway's", {0}},
};

static const fl_matrix_rule elicitation[] = {
    {L1, M, L1, L2, NONE, "the server's revision has none", {0}},
    {L1,
     L2,
     L3,
     L4,
     LOST,
     "the client cannot show forms: the server is told so (-32601)",
     {"case 32"}},
    {L1,
     L2,
     M,
     M,
     LOST,
     "the client cannot show forms: the call fails (-32603)",
     {"what a client has not declared it is not asked"}},
    {L3,
     L4,
     M,
     M,
     MADE,
     "a round becomes a request to the client, on the stream of its call",
     {"case 45", "case 47",
      "choices that an older client cannot show are cancelled for it"}},
    {M,
     M,
     L3,
     L4,
     MADE,
     "a request becomes a round of the call that runs, which is parked",
     {"case 25", "case 28", "case 29"}},
    {L3,
     L3,
     L4,
     L4,
     CARRIED,
     "titles of choices become the names that 2025-06-18 knows",
     {"case 55"}},
    {L1, M, L1, M, CARRIED, "under ids of the gateway's", {"case 55 a"}},
};

static const fl_matrix_rule pages[] = {
    {L1, M, L1, L3, NONE, "the server's revision has none", {0}},
    {L1,
     L3,
     L4,
     L4,
     LOST,
     "an error (-32042) that the client does not know",
     {"errors of legacy servers reach legacy clients as they are"}},
    {L1,
     L3,
     M,
     M,
     LOST,
     "the client cannot show pages: the call fails (-32603)",
     {"a page is an undeclared input to who has not declared pages"}},
    {L4,
     L4,
     M,
     M,
     MADE,
     "a round becomes a request, shown once; the client is told when it is "
     "done",
     {"a page is shown once, and told of when the server is content"}},
    {M,
     M,
     L4,
     L4,
     MADE,
     "the error -32042 becomes a round, and the call is made again",
     {"case 34", "case 35", "a page that was shown is waited for"}},
    {L1, M, L1, M, CARRIED, "as they are", {0}},
};

static const fl_matrix_rule roots[] = {
    {L1,
     L4,
     M,
     M,
     MADE,
     "a round becomes a request to the client",
     {"all that is wanted at once is asked at once"}},
    {M,
     M,
     L1,
     L4,
     MADE,
     "asked for with the first call, and kept for five minutes",
     {"roots that are wanted before any call are asked with the first one",
      "a list that waits for roots does not wait for ever"}},
    {L1, M, L1, M, CARRIED, "under ids of the gateway's", {0}},
};

static const fl_matrix_rule root_changes[] = {
    {M, M, L1, M, NONE, "the client's revision tells of none", {0}},
    {L1, L4, M, M, LOST, "2026-07-28 has no place for it", {0}},
    {L1, M, L1, M, CARRIED, "as they are", {0}},
};

static const fl_matrix_rule subscriptions[] = {
    {L1,
     L4,
     M,
     M,
     MADE,
     "all subscriptions of a client are one listen, replaced as they change",
     {"case 49", "case 49 a", "an end of a subscription leaves the others",
      "a listen that the server ends is opened again"}},
    {M,
     M,
     L1,
     L4,
     MADE,
     "a listen subscribes to each resource, as long as anybody listens",
     {"case 38"}},
    {M, M, M, M, CARRIED, "a listen for each listen", {"case 62"}},
    {L1, M, L1, M, CARRIED, "as they are", {0}},
};

static const fl_matrix_rule list_changes[] = {
    {L1,
     L4,
     M,
     M,
     MADE,
     "the gateway listens, and tells the client unasked",
     {"case 49 b"}},
    {M,
     M,
     L1,
     L4,
     MADE,
     "told to every listen that wants them, under its id",
     {"case 39"}},
    {L1, M, L1, M, CARRIED, "as they are", {0}},
};

static const fl_matrix_rule resume[] = {
    {L1,
     L1,
     L1,
     M,
     NONE,
     "the client's revision has no streams to resume",
     {0}},
    {M,
     M,
     L1,
     M,
     NONE,
     "the client's revision has none: hanging up cancels",
     {"case 36"}},
    {L1,
     M,
     L1,
     M,
     MADE,
     "the gateway keeps what was said for who comes back for it",
     {"case 48 a"}},
};

static const fl_matrix_rule tasks[] = {
    {L1, M, L1, L3, NONE, "the server's revision has none", {0}},
    {L1,
     L3,
     L4,
     L4,
     LOST,
     "hidden; a tool that must be a task cannot be called",
     {"what is new in a revision is hidden from older clients"}},
    {L1,
     L3,
     M,
     M,
     MADE,
     "the gateway waits for the task in the client's place",
     {"clients before 2025-11-25 have no tasks",
      "a tool that is only to be had as a task is waited for",
      "a task that its client knows nothing of ends with the call"}},
    {L4,
     L4,
     M,
     M,
     MADE,
     "of the extension's; a result that comes at once is kept as a task",
     {"case 58", "a task of the server is one of the client",
      "a task that is cancelled is told to be",
      "a client has a list of its own tasks"}},
    {M,
     M,
     L4,
     L4,
     MADE,
     "as the extension, or waited for in the client's place",
     {"case 59", "a tool that must be a task is a task for a client with tasks",
      "a task that is driven may ask"}},
    {L1, M, L1, M, CARRIED, "as they are", {0}},
};

static const fl_matrix_rule ping[] = {
    {M, M, L1, M, NONE, "the client's revision has none", {0}},
    {L1, M, L1, M, MADE, "answered by the gateway", {0}},
};

static const fl_matrix_rule batches[] = {
    {L2,
     L2,
     L1,
     M,
     MADE,
     "taken apart, and answered by one array; no server gets one",
     {"case 51"}},
    {L1, M, L1, M, NONE, "2025-03-26 alone has them", {0}},
};

static const fl_matrix_rule sessions[] = {
    {M, M, M, M, NONE, "neither has any", {0}},
    {L1,
     L4,
     M,
     M,
     MADE,
     "kept by the gateway",
     {"case 5", "case 15",
      "a session that is deleted ends its calls upstream"}},
    {M,
     M,
     L1,
     L4,
     MADE,
     "opened for those of one user that look alike, and shared by them",
     {"case 1", "an upstream session that is lost is opened again, the call "
                "sent once"}},
    {L1,
     M,
     L1,
     M,
     CARRIED,
     "one for one",
     {"sessions of one server are unknown at another"}},
};

static const fl_matrix_rule errors[] = {
    {M,
     M,
     L1,
     L4,
     CARRIED,
     "numbers that 2026-07-28 has given a meaning become -32603",
     {"errors of legacy servers get numbers the modern era leaves free",
      "case 66 a"}},
    {L1,
     L4,
     L1,
     L4,
     CARRIED,
     "as they are",
     {"errors of legacy servers reach legacy clients as they are",
      "case 66 a"}},
    {L1, M, L1, M, CARRIED, "as they are", {"case 66", "case 66 a"}},
};

static const fl_matrix_rule ids[] = {
    {L1,
     M,
     L1,
     M,
     CARRIED,
     "the client's come back to the letter; servers see the gateway's",
     {"ids come back byte for byte, whatever they look like", "case 56"}},
};

#define FEATURE(name, what, rules)                                             \
    {                                                                          \
        name, what, rules, sizeof(rules) / sizeof *(rules)                     \
    }

static const fl_matrix_feature features[] = {
    FEATURE("tools", "tools: listed, called", tools),
    FEATURE("structured", "structured results of tools", structured),
    FEATURE("resources", "resources: listed, read", resources),
    FEATURE("prompts", "prompts: listed, used", prompts),
    FEATURE("progress", "progress of a call", progress),
    FEATURE("cancellation", "a call that is given up", cancellation),
    FEATURE("tasks", "calls that become tasks", tasks),
    FEATURE("logs", "the server's log", logs),
    FEATURE("sampling", "questions to the model", sampling),
    FEATURE("elicitation", "questions to the user: forms", elicitation),
    FEATURE("elicitation-url", "questions to the user: pages", pages),
    FEATURE("roots", "folders of the client", roots),
    FEATURE("root-changes", "changes of these folders", root_changes),
    FEATURE("subscriptions", "changes of a resource", subscriptions),
    FEATURE("list-changes", "changes of a list", list_changes),
    FEATURE("resume", "streams that broke, resumed", resume),
    FEATURE("sessions", "state of a session", sessions),
    FEATURE("ping", "pings of the client", ping),
    FEATURE("batches", "several requests in one", batches),
    FEATURE("errors", "numbers of errors", errors),
    FEATURE("ids", "ids of requests", ids),
    {0},
};

const fl_matrix_feature *fl_matrix_features(void)
{
    return features;
}

const fl_matrix_rule *fl_matrix_find(const fl_matrix_feature *feature,
                                     fl_revision_id client,
                                     fl_revision_id server)
{
    const fl_matrix_rule *rule = feature->rules;
    const fl_matrix_rule *last = rule + feature->count - 1;

    while (rule < last &&
           (client < rule->client_from || client > rule->client_to ||
            server < rule->server_from || server > rule->server_to))
        rule++;
    return rule;
}
