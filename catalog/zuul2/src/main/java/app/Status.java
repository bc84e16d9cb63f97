package app;

import com.netflix.spectator.api.Counter;
import com.netflix.spectator.api.Registry;
import com.netflix.zuul.Filter;
import com.netflix.zuul.filters.FilterType;
import com.netflix.zuul.filters.http.HttpSyncEndpoint;
import com.netflix.zuul.message.http.HttpRequestMessage;
import com.netflix.zuul.message.http.HttpResponseMessage;
import com.netflix.zuul.message.http.HttpResponseMessageImpl;

/** What Zuul's own pool of connections has counted, for all upstreams together. */
@Filter(order = 0, type = FilterType.ENDPOINT)
public class Status extends HttpSyncEndpoint {
  private final Registry registry;

  public Status(Registry registry) {
    this.registry = registry;
  }

  private long sum(String name) {
    return registry.counters().filter(c -> c.id().name().equals(name)).mapToLong(Counter::count).sum();
  }

  @Override
  public HttpResponseMessage apply(HttpRequestMessage request) {
    HttpResponseMessage response = new HttpResponseMessageImpl(request.getContext(), request, 200);
    response.getHeaders().set("Content-Type", "application/json");
    response.setBodyAsText(
        String.format(
            "{\"upstreams\":[{\"address\":\"app\",\"requests\":%d,\"connections\":%d,\"failures\":%d}]}",
            sum("connectionpool_request"),
            sum("connectionpool_create_success"),
            sum("connectionpool_create_fail")));
    return response;
  }
}
