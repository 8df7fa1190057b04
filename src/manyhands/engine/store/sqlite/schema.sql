-- The journal as it is now. For a file made by an older version, migrations/ leads here, step by step.

-- The events, some to a row. Rows follow each other without a gap.
CREATE TABLE batch (
    seq INTEGER PRIMARY KEY, -- number of the last event in the row
    crc INTEGER NOT NULL,    -- CRC-32 of the body, started from seq
    body BLOB NOT NULL       -- the events, as a MessagePack array
);

-- The state after event `seq`, in parts so that its size has no bound.
CREATE TABLE snapshot (
    seq INTEGER NOT NULL,
    part INTEGER NOT NULL,  -- from 0
    parts INTEGER NOT NULL, -- how many there are
    crc INTEGER NOT NULL,   -- CRC-32 of the body, started from seq
    body BLOB NOT NULL,
    PRIMARY KEY (seq, part)
);

-- What others ask of the dispatcher. AUTOINCREMENT: an id is never used twice.
CREATE TABLE request (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    crc INTEGER NOT NULL, -- CRC-32 of the body
    body BLOB NOT NULL    -- one event, in a MessagePack array
);

-- What went on, every few seconds while anything was in flight: for looking back. Nothing is rebuilt from it.
CREATE TABLE sample (
    at_ms INTEGER PRIMARY KEY, -- since 1970
    body BLOB NOT NULL         -- as MessagePack
);

-- In the rows after event `since` the checksum starts from that of the row before. Older rows start from their number.
CREATE TABLE chain (
    since INTEGER NOT NULL
);
INSERT INTO chain SELECT coalesce(max(seq), 0) FROM batch;
