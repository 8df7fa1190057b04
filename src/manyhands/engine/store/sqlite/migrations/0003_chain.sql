-- In the rows after event `since` the checksum starts from that of the row before. Older rows start from their number.
CREATE TABLE chain (
    since INTEGER NOT NULL
);
INSERT INTO chain SELECT coalesce(max(seq), 0) FROM batch;
