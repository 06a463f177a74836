/*
 * whose.c - whose it is what a server says and does not say to whom.
 *
 * Of trails two are enough: whether anybody else's is still fresh is told by
 * the longest one, and if that is the client's own by the next.
 */
#include "gateway/whose.h"

#include "base/siphash.h"
#include "base/span.h"
#include "gateway/gateway.h"
#include "gateway/route.h"
#include "io/loop.h"

#include <string.h>

static uint64_t now_of(const fl_back *back)
{
    return fl_loop_now(back->route->gateway->loop);
}

/* Never 0, and never a front's number, which is small. */
static uint64_t digest(fl_span text)
{
    static const uint64_t seed[2] = {1, 2};

    return fl_siphash(seed, text) | UINT64_C(1) << 63;
}

static bool is_channel(const fl_front *front)
{
    return (front->traits & FL_LINK_CHANNEL) != 0;
}

/* As fl_front_principal() tells them apart. */
static uint64_t find_user(const fl_front *front)
{
    fl_link_info info;

    if (front->principal != 0)
        return digest((fl_span){(const char *)&front->principal,
                                sizeof front->principal});
    if (is_channel(front) || front->link == NULL)
        return front->number;
    fl_link_get_info(front->link, &info);
    return digest(fl_span_of(info.peer));
}

/* Most often it is the one who was asked about last. */
static uint64_t user_of(fl_users *users, const fl_front *front)
{
    if (users->front != front->number) {
        users->front = front->number;
        users->user = find_user(front);
    }
    return users->user;
}

static bool is_stateless(const fl_front *front)
{
    return (front->traits & FL_LINK_STATELESS) != 0;
}

static uint64_t client_of(fl_users *users, const fl_front *front)
{
    return is_stateless(front) ? user_of(users, front) : front->number;
}

/* Over HTTP a session is soon opened, and left without a word: what one of a
 * user's has left behind is not held against the next. */
static uint64_t follower_of(fl_users *users, const fl_front *front)
{
    return is_channel(front) ? front->number : user_of(users, front);
}

/* It is with the server, or was, for a client; and something may be done for
 * it there that is worth a word. */
static bool counts(const fl_errand *errand)
{
    return errand->back != NULL && errand->own == NULL && errand->number != 0 &&
           errand->method != FL_METHOD_LISTEN &&
           errand->method != FL_METHOD_PING;
}

/* Of two that are one client's: it is as long as the longer one. */
static fl_trail join(const fl_trail *one, const fl_trail *two)
{
    bool same = one->front == two->front || one->until_ms <= two->ended_ms;

    return (fl_trail){
        .client = two->client,
        .until_ms =
            one->until_ms > two->until_ms ? one->until_ms : two->until_ms,
        .ended_ms = two->ended_ms,
        .newest = two->newest,
        .front = same ? two->front : 0,
    };
}

static void extend(fl_trail trails[2], const fl_trail *made)
{
    if (trails[0].client == made->client) {
        trails[0] = join(&trails[0], made);
    } else if (trails[0].until_ms < made->until_ms) {
        trails[1] = trails[0];
        trails[0] = *made;
    } else if (trails[1].until_ms < made->until_ms) {
        trails[1] = *made;
    }
}

/* Of one that was parked nobody knows any more, unless there was but one. */
static uint64_t asker_of(const fl_errand *errand)
{
    fl_users *users = &errand->back->users;

    if (errand->asker.front != NULL)
        return follower_of(users, errand->asker.front);
    return users->several ? UINT64_MAX : users->client;
}

static void leave_trail(fl_errand *errand, uint64_t ms)
{
    const fl_front *front = errand->asker.front;
    fl_back *back = errand->back;

    if (!counts(errand) || back->own)
        return;
    fl_trail made = {
        .client = asker_of(errand),
        .until_ms = now_of(back) + ms,
        .ended_ms = now_of(back),
        .newest = back->users.newest,
        .front = front != NULL ? front->number : 0,
    };
    extend(back->users.trails, &made);
}

void fl_whose_stray(fl_errand *errand)
{
    leave_trail(errand, FL_WHOSE_STRAY_MS);
}

void fl_whose_ended(fl_errand *errand)
{
    leave_trail(errand, FL_WHOSE_TRAIL_MS);
}

void fl_whose_sent(fl_errand *errand)
{
    fl_users *users = &errand->back->users;

    users->newest = errand->number;
    if (errand->asker.front == NULL)
        return;
    uint64_t user = user_of(users, errand->asker.front);
    uint64_t client = client_of(users, errand->asker.front);
    users->many = users->many || (users->only != 0 && users->only != user);
    users->several =
        users->several || (users->client != 0 && users->client != client);
    users->only = user;
    users->client = client;
}

void fl_whose_begins(fl_users *users)
{
    users->only = users->client = 0;
    users->many = users->several = false;
}

bool fl_whose_words(const fl_errand *errand)
{
    fl_users *users = &errand->back->users;
    const fl_front *front = errand->asker.front;

    return errand->back->own || users->only == 0 ||
           (!users->many && front != NULL &&
            users->only == user_of(users, front));
}

void fl_whose_hush(fl_error *why)
{
    char *said = strstr(why->text, FL_LINK_LAST_SAID);

    if (said != NULL)
        *said = '\0';
}

static fl_front *first_of(const fl_back *back)
{
    return FL_LIST_ENTRY(back->fronts.next, fl_front, by_back);
}

/* What is parked runs on, for a client that is to come back: which is another,
 * unless this is the only one that there has ever been. */
static bool is_parked_by_others(const fl_back *back, const fl_front *front)
{
    return !fl_list_empty(&back->parked) &&
           (front == NULL || is_stateless(front) || back->users.several);
}

/* False: there are several. `front` is NULL if there is none. */
static bool find_busy(const fl_back *back, fl_front **front)
{
    *front = NULL;
    for (fl_list *node = back->sent.next; node != &back->sent;
         node = node->next) {
        const fl_errand *errand = FL_LIST_ENTRY(node, fl_errand, by_back);
        if (!counts(errand))
            continue;
        if (*front != NULL &&
            (*front != errand->asker.front || is_stateless(*front)))
            return false;
        *front = errand->asker.front;
    }
    return !is_parked_by_others(back, *front);
}

/* Requests of one user over HTTP, one after the other, are taken for one
 * client's; those that ran side by side are not, unless it is one session. */
static bool is_own(const fl_back *back, const fl_trail *trail,
                   const fl_front *front)
{
    const fl_errand *errand =
        is_channel(front) ? NULL : fl_back_oldest(back, front, false);

    return errand == NULL ||
           (!is_stateless(front) && trail->front == front->number) ||
           trail->newest < errand->number;
}

static bool is_trailed_by_others(fl_back *back, const fl_front *front)
{
    const fl_trail *trail = back->users.trails;

    if (trail->client == follower_of(&back->users, front) &&
        is_own(back, trail, front))
        trail++;
    return trail->until_ms > now_of(back);
}

static fl_front *find_front(fl_back *back)
{
    bool any = !fl_list_empty(&back->fronts);
    fl_front *front;

    if (back->own && any)
        return first_of(back);
    if (!find_busy(back, &front))
        return NULL;
    if (front == NULL && any && back->fronts.next->next == &back->fronts)
        front = first_of(back);
    return front != NULL && !is_trailed_by_others(back, front) ? front : NULL;
}

fl_whose fl_whose_log(fl_back *back)
{
    fl_span about = fl_link_about(fl_lane_link(back->lane));
    fl_errand *errand = fl_numbers_get(&back->numbers, fl_numbers_read(about));
    fl_front *front;

    if (about.len > 0 && (errand == NULL || errand->own == NULL))
        return errand != NULL ? (fl_whose){errand->asker.front, errand}
                              : (fl_whose){0}; /* its request is over */
    front = find_front(back);
    return (fl_whose){
        .front = front,
        .errand = front != NULL ? fl_back_oldest(back, front, false) : NULL,
    };
}

void fl_whose_withhold(const fl_back *back)
{
    fl_route *route = back->route;

    if (fl_list_empty(&back->fronts) && fl_list_empty(&back->sent))
        return; /* there is nobody to miss it */
    if (route->withheld++ == 0)
        fl_log_say(fl_loop_log(route->gateway->loop), FL_LOG_INFO,
                   "a log message is withheld: it cannot be told which of "
                   "several clients it is for; more may follow",
                   fl_log_text("server", fl_span_of(route->name)));
}
