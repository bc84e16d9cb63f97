package app;

import com.networknt.handler.HandlerProvider;
import io.undertow.server.HttpHandler;
import io.undertow.util.Headers;

/** The answer to everything, as in the published comparison of frameworks. */
public class Hello implements HandlerProvider {
  @Override
  public HttpHandler getHandler() {
    return exchange -> {
      exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/plain");
      exchange.getResponseSender().send("Hello World!");
    };
  }
}
