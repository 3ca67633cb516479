-- Streams that have to be settled at the same time are spread over the time before. An update changes no column of it (HOT).
create index streams_ending on streams (network, settles_until) where state in ('active', 'paused', 'closing');
