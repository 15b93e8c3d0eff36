/// A view whose records and links come out of one text, from its beginning to its end.
///
/// A part of a list costs as much as everything before it, and so does a list. A reader of
/// everything reads whole lists, in the order of roots and relationships, on one thread.
package protocol SequentialSnapshot: StoreSnapshot {}
