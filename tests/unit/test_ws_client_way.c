/*
 * test_ws_client_way.c - a WebSocket client's way to its server: TLS, and
 * proxies.
 *
 * The server of TLS is a stream of ours with as much of a handshake on it as
 * is needed; the proxy is a plain socket, and the server behind it, too.
 */
#include "http_mini.h"
#include "ws_door.h"

/* Its one guest, and what it said so far. */
static struct host {
    fl_acceptor *acceptor;
    fl_tls *tls;
    fl_stream *stream;
    char alpn[16];
    char text[4096];
    size_t len;
    bool welcomed;
    int guests, gone;
} host;

static void welcome(void)
{
    door_head head;
    char yes[512];

    snprintf(head.text, sizeof head.text, "%s", host.text);
    door_accept_value(door_field(&head, "sec-websocket-key"), head.accept);
    int len = snprintf(yes, sizeof yes, DOOR_YES "\r\n", head.accept);
    size_t all = (size_t)len +
                 door_pack(yes + len, DOOR_TEXT, NOTE("1"), strlen(NOTE("1")));
    assert_int_equal(fl_stream_write(host.stream, &(fl_span){yes, all}, 1),
                     FL_OK);
    host.welcomed = true;
}

static void on_host_open(void *user)
{
    fl_span alpn = fl_stream_alpn(host.stream);

    (void)user;
    snprintf(host.alpn, sizeof host.alpn, "%.*s", (int)alpn.len, alpn.ptr);
}

static void on_host_data(void *user, fl_span bytes)
{
    (void)user;
    assert_true(host.len + bytes.len < sizeof host.text);
    memcpy(host.text + host.len, bytes.ptr, bytes.len);
    host.len += bytes.len;
    if (!host.welcomed && strstr(host.text, "\r\n\r\n") != NULL)
        welcome();
}

static void on_host_end(void *user, const fl_error *why)
{
    (void)user;
    (void)why;
    fl_stream_close(host.stream);
}

static void on_host_closed(void *user)
{
    (void)user;
    host.stream = NULL;
    host.gone++;
}

static const fl_stream_events host_stream_events = {
    .on_open = on_host_open,
    .on_data = on_host_data,
    .on_end = on_host_end,
    .on_closed = on_host_closed,
};

static void on_host_accept(void *user, fl_stream *stream, const char *address)
{
    (void)user;
    (void)address;
    host.guests++;
    host.stream = stream;
    if (fl_stream_start(stream, &host_stream_events, NULL) == FL_OK)
        on_host_open(NULL);
}

static const fl_acceptor_events host_events = {.on_accept = on_host_accept};

static void begin_host(void)
{
    static const char *const alpn[] = {"h2", "http/1.1", NULL};
    fl_error error;

    at = (rig){.loop = io_loop(), .listener = -1};
    host = (struct host){0};
    assert_int_equal(fl_tls_new_server(&(fl_tls_options){.cert_file = mini_cert,
                                                         .key_file = mini_key,
                                                         .alpn = alpn},
                                       &host.tls, &error),
                     FL_OK);
    assert_int_equal(
        fl_acceptor_open(
            at.loop,
            &(fl_acceptor_options){.host = "127.0.0.1", .tls = host.tls},
            &host_events, NULL, &host.acceptor, &error),
        FL_OK);
}

static void end_host(void)
{
    if (host.stream != NULL)
        fl_stream_close(host.stream);
    fl_link_close(at.link);
    io_until(at.loop, at.closed == 1 && host.gone == host.guests);
    fl_link_unref(at.link);
    fl_acceptor_close(host.acceptor);
    fl_tls_unref(host.tls);
    io_some_turns(at.loop);
    fl_loop_free(at.loop);
}

static void connect_host(const fl_options *options)
{
    char url[64];

    snprintf(url, sizeof url, "wss://127.0.0.1:%u/",
             fl_acceptor_port(host.acceptor));
    rig_connect_to(url, options);
}

static void test_ws_client_way_is_tls_with_http_1(void **state)
{
    (void)state;
    begin_host();
    connect_host(&(fl_options){.tls.ca_file = mini_cert});
    io_until(at.loop, at.messages == 1);
    assert_string_equal(at.heard[0], NOTE("1"));
    assert_string_equal(host.alpn, "http/1.1");
    end_host();
}

static void test_ws_client_way_verifies_the_name_it_is_told(void **state)
{
    (void)state;
    begin_host();
    connect_host(&(fl_options){
        .tls = {.ca_file = mini_cert, .server_name = "server.test"}});
    io_until(at.loop, at.messages == 1);
    end_host();
    begin_host();
    connect_host(&(fl_options){
        .tls = {.ca_file = mini_cert, .server_name = "other.test"},
        .no_reconnect = true});
    io_until(at.loop, at.closed == 1);
    assert_int_equal(at.why.status, FL_E_TLS);
    assert_int_equal(host.len, 0); /* nothing was said */
    end_host();
}

static void test_ws_client_way_refuses_a_bad_certificate(void **state)
{
    (void)state;
    begin_host();
    connect_host(&(fl_options){.no_reconnect = true});
    io_until(at.loop, at.closed == 1);
    assert_int_equal(at.opened, 0);
    assert_int_equal(at.why.status, FL_E_TLS);
    assert_non_null(strstr(at.why.text, "certificate"));
    assert_int_equal(host.len, 0);
    end_host();
    begin_host(); /* unless it is told not to care */
    connect_host(&(fl_options){.tls.insecure_skip_verify = true});
    io_until(at.loop, at.messages == 1);
    end_host();
}

static void set_proxy(const char *name, uint16_t port)
{
    char url[64];

    snprintf(url, sizeof url, "http://u:p@127.0.0.1:%u", port);
    setenv(name, url, 1);
}

/* The proxy's answer, and then it is the server. */
static void check_tunnel(const char *url, const char *wanted, bool yes)
{
    uint16_t port = 0;
    int door = raw_listen(&port);
    door_head head;

    set_proxy("http_proxy", port);
    at = (rig){.loop = io_loop(), .listener = -1};
    rig_connect_to(
        url, &(fl_options){.http.allow_plaintext = true, .no_reconnect = true});
    raw_accept(&one, at.loop, door);
    door_hear_head(&one, &head);
    assert_memory_equal(head.text, wanted, strlen(wanted));
    assert_string_equal(door_field(&head, "proxy-authorization"), "Basic dTpw");
    raw_hears_nothing(&one); /* the handshake waits for the answer */
    if (yes) {
        door_answer(&one, "HTTP/1.1 200 Here you are\r\n\r\n");
        door_welcome(&one, "");
        door_say(&one, NOTE("1"));
        io_until(at.loop, at.messages == 1);
        raw_close(&one);
    } else {
        door_answer(&one, "HTTP/1.1 403 Not there\r\n\r\n");
    }
    io_until(at.loop, at.closed == 1);
    if (!yes)
        assert_non_null(strstr(at.why.text, "proxy: it answered 'HTTP/1.1 403 "
                                            "Not there'"));
    raw_close(&one);
    close(door);
    fl_link_unref(at.link);
    io_some_turns(at.loop);
    fl_loop_free(at.loop);
    unsetenv("http_proxy");
}

static void test_ws_client_way_leads_through_a_proxy(void **state)
{
    (void)state;
    check_tunnel("ws://server.test/mcp", "CONNECT server.test:80 HTTP/1.1\r\n",
                 true);
    check_tunnel("ws://server.test:8080/", "CONNECT server.test:8080 HTTP",
                 true);
    check_tunnel("ws://server.test/mcp", "CONNECT server.test:80 HTTP/1.1\r\n",
                 false);
}

static void pump(int from, int to)
{
    char bytes[4096];
    ssize_t n;

    while ((n = recv(from, bytes, sizeof bytes, MSG_DONTWAIT)) > 0)
        assert_int_equal(send(to, bytes, (size_t)n, MSG_NOSIGNAL), n);
}

static void test_ws_client_way_of_tls_through_a_proxy(void **state)
{
    const char *wanted = "CONNECT server.test:443 HTTP/1.1\r\n";
    uint16_t port = 0;
    int door = raw_listen(&port);
    door_head head;

    (void)state;
    begin_host();
    set_proxy("https_proxy", port);
    rig_connect_to("wss://server.test/mcp",
                   &(fl_options){.tls.ca_file = mini_cert});
    raw_accept(&one, at.loop, door);
    door_hear_head(&one, &head);
    assert_memory_equal(head.text, wanted, strlen(wanted));
    door_answer(&one, "HTTP/1.1 200 OK\r\n\r\n");
    int tunnel = raw_dial(fl_acceptor_port(host.acceptor));
    io_until(at.loop,
             (pump(one.fd, tunnel), pump(tunnel, one.fd), at.messages == 1));
    assert_non_null(strcasestr(host.text, "\r\nhost: server.test\r\n"));
    unsetenv("https_proxy");
    close(tunnel);
    raw_close(&one);
    end_host();
    close(door);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ws_client_way_is_tls_with_http_1),
        cmocka_unit_test(test_ws_client_way_verifies_the_name_it_is_told),
        cmocka_unit_test(test_ws_client_way_refuses_a_bad_certificate),
        cmocka_unit_test(test_ws_client_way_leads_through_a_proxy),
        cmocka_unit_test(test_ws_client_way_of_tls_through_a_proxy),
    };
    return cmocka_run_group_tests(tests, mini_make_files, mini_remove_files);
}
