/** Objects that a source has released: they are unmanaged, and it may manage them again. */
export const releasedObjects = [
  `create table released_object (
    realm integer not null references realm (number) on delete cascade,
    source integer not null references source (number) on delete cascade,
    kind text not null,
    object text collate "C" not null,
    primary key (realm, source, kind, object)
  )`,
]
