# An MCP server over HTTP for many users: host/serve/http/README.md says how to run it.

FROM node:20-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build -- --locked
# Only what the package contains, and the packages of the lock file: what it needs, PostgreSQL's client, and metrics.
RUN mkdir /app \
  && npm pack --ignore-scripts --pack-destination /tmp \
  && tar -xzf /tmp/memcell-*.tgz -C /app --strip-components=1 \
  && cp package-lock.json /app/ \
  && npm ci --prefix /app --omit=dev --ignore-scripts \
  && npm install --prefix /app --omit=dev --ignore-scripts --no-save --save-prod $(node -p " \
    ['pg', '@opentelemetry/sdk-metrics', '@opentelemetry/exporter-prometheus'] \
      .map((name) => name + '@' + require('/app/package.json').devDependencies[name]).join(' ')")

FROM node:20-bookworm-slim
ENV NODE_ENV=production \
  MEMCELL_DATA=/data \
  MEMCELL_SERVE_HTTP=true \
  MEMCELL_SERVE_HOST=0.0.0.0
COPY --from=build /app /app
RUN install -d -o node -g node -m 700 /data
USER node
WORKDIR /data
VOLUME /data
EXPOSE 7391
HEALTHCHECK --interval=30s --timeout=5s CMD ["node", "-e", "fetch('http://127.0.0.1:7391/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/dist/host/cli/main.js"]
CMD ["serve"]
