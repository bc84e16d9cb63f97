package app;

import io.helidon.config.Config;
import io.helidon.config.ConfigSources;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import java.nio.file.Path;

/** The hello world of the published comparison of frameworks. */
public class Main {
  private static final String HELLO = "Hello World!";

  private Main() {}

  /** Takes the file with the server's settings, or none for port 8080. */
  public static void main(String[] args) {
    Config config =
        args.length == 0
            ? Config.just(ConfigSources.create(java.util.Map.of("server.host", "0.0.0.0", "server.port", "8080")))
            : Config.just(ConfigSources.file(Path.of(args[0])));
    WebServer.builder().config(config.get("server")).routing(Main::routes).build().start();
  }

  private static void routes(HttpRouting.Builder routing) {
    routing.get("/", (request, response) -> response.send(HELLO));
    routing.get("/hello", (request, response) -> response.send(HELLO));
  }
}
