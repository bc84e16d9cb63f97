package app;

import java.util.Random;
import java.util.UUID;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** The answers of the published benchmarks. */
@RestController
class Answers {
  /** The envelope; its members are written in this order. */
  record Envelope(int errorCode, String errorMessage, String data) {}

  /** Made at the start, so that a request costs no random UUID. */
  private final String[] uuids = new String[100_000];

  /** One for all threads, as published: they contend for it. */
  private final Random random = new Random();

  Answers() {
    for (int i = 0; i < uuids.length; i++) {
      uuids[i] = UUID.randomUUID().toString();
    }
  }

  @GetMapping("/")
  Envelope uuid() {
    return new Envelope(0, null, "UUID:" + uuids[random.nextInt(uuids.length)]);
  }

  @GetMapping(path = "/Status/Version", produces = MediaType.TEXT_PLAIN_VALUE)
  String version() {
    return "OK";
  }

  @GetMapping(path = "/hello", produces = MediaType.TEXT_PLAIN_VALUE)
  String hello() {
    return "Hello World!";
  }
}
