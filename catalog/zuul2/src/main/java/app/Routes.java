package app;

import com.netflix.zuul.Filter;
import com.netflix.zuul.context.SessionContext;
import com.netflix.zuul.filters.FilterType;
import com.netflix.zuul.filters.http.HttpInboundSyncFilter;
import com.netflix.zuul.message.http.HttpRequestMessage;
import com.netflix.zuul.netty.filter.ZuulEndPointRunner;

/** Sends the page of counts to its endpoint and everything else to the upstreams. */
@Filter(order = 0, type = FilterType.INBOUND)
public class Routes extends HttpInboundSyncFilter {
  @Override
  public int filterOrder() {
    return 0;
  }

  @Override
  public boolean shouldFilter(HttpRequestMessage request) {
    return true;
  }

  @Override
  public HttpRequestMessage apply(HttpRequestMessage request) {
    SessionContext context = request.getContext();
    if (request.getPath().equals("/.prony/status")) {
      context.setEndpoint(Status.class.getCanonicalName());
      return request;
    }
    context.setEndpoint(ZuulEndPointRunner.PROXY_ENDPOINT_FILTER_NAME);
    context.setRouteVIP("app");
    return request;
  }
}
