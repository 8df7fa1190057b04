-- What went on, every few seconds while anything was in flight: for looking back. Nothing is rebuilt from it.
CREATE TABLE sample (
    at_ms INTEGER PRIMARY KEY, -- since 1970
    body BLOB NOT NULL         -- as MessagePack
);
