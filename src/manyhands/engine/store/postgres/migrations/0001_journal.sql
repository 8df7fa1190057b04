-- Which journal this is, and the version of its tables.
CREATE TABLE journal (
    identity text NOT NULL, -- carried by the processes of its attempts
    version integer NOT NULL
);
INSERT INTO journal VALUES (replace(gen_random_uuid()::text, '-', ''), 0);

-- The events, some to a row. Rows follow each other without a gap.
CREATE TABLE batch (
    seq bigint PRIMARY KEY, -- number of the last event in the row
    crc bigint NOT NULL,    -- CRC-32 of the body, started from seq
    body bytea NOT NULL     -- the events, as a MessagePack array
);

-- The state after event `seq`, in parts so that its size has no bound.
CREATE TABLE snapshot (
    seq bigint NOT NULL,
    part integer NOT NULL,  -- from 0
    parts integer NOT NULL, -- how many there are
    crc bigint NOT NULL,    -- CRC-32 of the body, started from seq
    body bytea NOT NULL,
    PRIMARY KEY (seq, part)
);

-- What others ask of the dispatcher.
CREATE TABLE request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key bigint NOT NULL UNIQUE, -- chosen by the asker, so that a request sent again is still one request
    crc bigint NOT NULL,        -- CRC-32 of the body
    body bytea NOT NULL         -- one event, in a MessagePack array
);

-- What went on, every few seconds while anything was in flight: for looking back. Nothing is rebuilt from it.
CREATE TABLE sample (
    at_ms bigint PRIMARY KEY, -- since 1970
    body bytea NOT NULL       -- as MessagePack
);

-- Who leads. One row. Its key is the token: who takes the lead changes the key, and so waits for every
-- append that has looked at it; who renews the lease does not.
CREATE TABLE lease (
    token bigint PRIMARY KEY, -- grows with every change of the leader
    holder text NOT NULL,
    machine text NOT NULL,
    taken_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL
);
INSERT INTO lease VALUES (0, '', '', '-infinity', '-infinity');

-- MessagePack of events is small already; compressing it again costs more than it saves.
ALTER TABLE batch ALTER COLUMN body SET STORAGE EXTERNAL;
ALTER TABLE snapshot ALTER COLUMN body SET STORAGE EXTERNAL;
