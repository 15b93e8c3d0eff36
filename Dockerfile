# The program `roost` in a small image: docker build -t roost . && docker run --rm -v "$PWD:/data" roost info music.sqlite
FROM swift:6.2-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends make pkg-config && rm -rf /var/lib/apt/lists/*
WORKDIR /roost
COPY . .
RUN make deb

FROM debian:bookworm-slim
COPY --from=build /roost/.build/roost_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/roost_*.deb && rm -rf /var/lib/apt/lists/* /tmp/*.deb
WORKDIR /data
ENTRYPOINT ["roost"]
