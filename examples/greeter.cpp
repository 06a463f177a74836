/*
 * greeter.cpp - the same headers from C++17, behind two small classes.
 *
 *     greeter [URL]...
 *
 *     fairlead call call greet name=Ada -- ./greeter
 *
 * A Server owns its fl_server and the functions it calls; a Call is handed to
 * them by value. Handlers are lambdas, and may throw: an exception must not
 * pass through C, so it becomes the tool's failure, which the model reads.
 * This is not a binding to be linked, but thirty lines to begin one with.
 */
#include <fairlead/fairlead.h>

#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace
{

class Call
{
  public:
    explicit Call(fl_call *call) : call_(call)
    {
    }

    std::string_view text(const char *key) const
    {
        fl_span span = fl_call_text(call_, key);
        return {span.ptr, span.len};
    }

    void reply(std::string_view text) const
    {
        fl_call_reply_text(call_, {text.data(), text.size()});
    }

  private:
    fl_call *call_;
};

class Server
{
  public:
    using Handler = std::function<void(Call)>;

    Server(const char *name, const char *version)
        : server_(fl_server_new(name, version), fl_server_free)
    {
        if (!server_)
            throw std::bad_alloc();
    }

    void tool(const char *name, const char *schema, Handler handler)
    {
        fl_tool tool{};
        tool.name = name;
        tool.input_schema = schema;
        tool.call = enter;
        tool.user = &handlers_.emplace_back(std::move(handler));
        if (fl_server_add_tool(server_.get(), &tool) != FL_OK)
            throw std::invalid_argument(fl_server_error(server_.get())->text);
    }

    int run(const std::vector<const char *> &urls) &&
    {
        return fl_server_run(server_.release(), urls.data());
    }

  private:
    static void enter(fl_call *call, void *user)
    {
        try {
            (*static_cast<Handler *>(user))(Call(call));
        } catch (const std::exception &why) {
            fl_call_fail(call, "%s", why.what());
        }
    }

    std::deque<Handler> handlers_; /* a deque does not move what is in it */
    std::unique_ptr<fl_server, decltype(&fl_server_free)> server_;
};

const char one_name[] = R"({"type": "object", "required": ["name"],
    "properties": {"name": {"type": "string"}}})";

void greet(Call call)
{
    if (call.text("name").empty())
        throw std::invalid_argument("nobody has no name");
    call.reply("Ahoy, " + std::string(call.text("name")) + "!");
}

} // namespace

int main(int argc, char **argv)
{
    std::vector<const char *> urls(argv + 1, argv + argc);
    Server server("greeter", "1.0");

    if (urls.empty())
        urls.push_back("stdio:");
    urls.push_back(nullptr);
    server.tool("greet", one_name, greet);
    return std::move(server).run(urls);
}
