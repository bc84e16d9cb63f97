-- +goose Up
-- Times are nanoseconds since 1970; _us are microseconds; ratios 0 to 1; rates
-- per second. What is not known is NULL.
PRAGMA application_id = 1349676910;

CREATE TABLE campaigns (
    id         TEXT NOT NULL PRIMARY KEY,
    experiment TEXT NOT NULL,
    plan       BLOB NOT NULL -- gzip of plan.Experiment as JSON
);

CREATE TABLE runs (
    id             TEXT NOT NULL PRIMARY KEY,
    digest         TEXT NOT NULL UNIQUE, -- SHA-256 of the trial as JSON
    campaign       TEXT NOT NULL,        -- '' for a load on its own
    number         BIGINT NOT NULL,      -- in the campaign, from 1
    block          BIGINT NOT NULL,
    experiment     TEXT NOT NULL,
    variant        TEXT NOT NULL,
    kind           TEXT NOT NULL,
    version        TEXT NOT NULL,
    workload       TEXT NOT NULL, -- digests of what must be equal in a comparison
    machine        TEXT NOT NULL,
    started        BIGINT NOT NULL,
    verdict        TEXT NOT NULL,
    error          TEXT NOT NULL,
    ended_by       TEXT NOT NULL,
    target         TEXT NOT NULL,
    connections    BIGINT NOT NULL,
    duration_us    DOUBLE PRECISION NOT NULL,
    rate           DOUBLE PRECISION NOT NULL,
    offered        DOUBLE PRECISION,
    p50_us         DOUBLE PRECISION,
    p90_us         DOUBLE PRECISION,
    p99_us         DOUBLE PRECISION,
    p999_us        DOUBLE PRECISION,
    max_us         DOUBLE PRECISION,
    errors         DOUBLE PRECISION,
    cpu_us         DOUBLE PRECISION, -- of all services, per request
    rss_bytes      DOUBLE PRECISION, -- of all services, at their peaks
    generator_us   DOUBLE PRECISION, -- CPU of the generator, per request
    asked          BIGINT NOT NULL,
    completed      BIGINT NOT NULL,
    failed         BIGINT NOT NULL,
    bottleneck     TEXT NOT NULL,
    findings       BIGINT NOT NULL, -- how many rows each has in the other tables
    watched        BIGINT NOT NULL
);
CREATE INDEX runs_by_time ON runs (started, id);
CREATE INDEX runs_by_variant ON runs (experiment, variant, started);
CREATE INDEX runs_by_campaign ON runs (campaign, number);

-- The trial as JSON, without what was watched: that is in series.
CREATE TABLE documents (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    body   BLOB NOT NULL -- gzip
);

CREATE TABLE findings (
    run_id     TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    place      BIGINT NOT NULL,
    rule       TEXT NOT NULL,
    rule_id    TEXT NOT NULL,
    severity   TEXT NOT NULL,
    confidence TEXT NOT NULL,
    about      TEXT NOT NULL,
    message    TEXT NOT NULL,
    PRIMARY KEY (run_id, place)
);
CREATE INDEX findings_by_rule ON findings (rule, severity);

-- One thing that was watched, with all its series.
CREATE TABLE series (
    run_id   TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    place    BIGINT NOT NULL,
    kind     TEXT NOT NULL,
    name     TEXT NOT NULL,
    service  TEXT NOT NULL,
    instance BIGINT NOT NULL,
    host     TEXT NOT NULL,
    body     BLOB NOT NULL, -- gzip of result.Observed as JSON
    PRIMARY KEY (run_id, place)
);

-- Distributions of whole runs, to be merged without opening the documents.
CREATE TABLE histograms (
    run_id  TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    load    BIGINT NOT NULL, -- 0, and 1 and more for loads that ran beside it
    name    TEXT NOT NULL,
    exact   TEXT NOT NULL, -- hdr.Summary as JSON: what the cells only estimate
    body    BLOB NOT NULL, -- gzip of HdrHistogram V2
    PRIMARY KEY (run_id, load, name)
);

CREATE TABLE logs (
    run_id TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    name   TEXT NOT NULL,
    body   BLOB NOT NULL, -- gzip
    PRIMARY KEY (run_id, name)
);

-- What a search looks through, in lower case.
CREATE TABLE words (
    run_id TEXT NOT NULL PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    text   TEXT NOT NULL
);
