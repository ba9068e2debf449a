// The floor for `./dev bench rest`: an sd-event loop and Drogon's own, both with nothing to do.

#include <drogon/drogon.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include <thread>

int main() {
    std::jthread http([] {
        drogon::app()
            .addListener("127.0.0.1", 10241)
            .setThreadNum(1)
            .disableSigtermHandling()
            .registerBeginningAdvice([] { sd_notify(0, "READY=1"); })
            .run();
    });
    sd_event* event = nullptr;
    if (sd_event_default(&event) < 0) return 1;
    return sd_event_loop(event);
}
