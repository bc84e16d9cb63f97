package prony;

import static io.gatling.javaapi.core.CoreDsl.ByteArrayBody;
import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.during;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.http.HttpDsl.http;

import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/**
 * Users that all begin at once and send the same request over and over, without
 * a pause, for a time: a closed loop. Values are given as functions, for Gatling
 * reads "#{...}" in a string as an expression of its own.
 */
public class Users extends Simulation {
  {
    setUp(scenario("users").exec(during(Duration.ofMillis(Long.getLong("prony.ms"))).on(exec(request())))
        .injectOpen(atOnceUsers(Integer.getInteger("prony.users"))))
        .protocols(http.disableFollowRedirect().disableCaching());
  }

  private static HttpRequestActionBuilder request() {
    try {
      String url = System.getProperty("prony.url");
      HttpRequestActionBuilder q = http("request").httpRequest(System.getProperty("prony.method"), session -> url);
      for (String line : Files.readAllLines(Path.of(System.getProperty("prony.headers")))) {
        int colon = line.indexOf(':');
        String value = line.substring(colon + 1).trim();
        q = q.header(line.substring(0, colon), session -> value);
      }
      byte[] body = Files.readAllBytes(Path.of(System.getProperty("prony.body")));
      return body.length == 0 ? q : q.body(ByteArrayBody(session -> body));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
