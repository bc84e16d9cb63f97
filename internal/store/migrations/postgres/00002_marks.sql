-- +goose Up
-- What people add to runs.
CREATE TABLE tags (
    run_id TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    tag    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (run_id, tag)
);
CREATE INDEX tags_by_tag ON tags (tag, run_id);

CREATE TABLE names (
    name   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    run_id TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES runs (id) ON DELETE CASCADE
);

CREATE TABLE notes (
    run_id  TEXT COLLATE "C" NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    number  BIGINT NOT NULL,
    written BIGINT NOT NULL,
    text    TEXT NOT NULL,
    PRIMARY KEY (run_id, number)
);

-- A baseline is several runs of one variant. A run that one rests on cannot go.
CREATE TABLE baselines (
    experiment TEXT COLLATE "C" NOT NULL,
    variant    TEXT COLLATE "C" NOT NULL,
    run_id     TEXT COLLATE "C" NOT NULL REFERENCES runs (id),
    pinned     BIGINT NOT NULL,
    PRIMARY KEY (experiment, variant, run_id)
);
CREATE INDEX baselines_by_run ON baselines (run_id);
