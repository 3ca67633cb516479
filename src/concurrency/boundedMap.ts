/**
 * Sets an entry of a map that holds at most `max` (1 or more), and drops the oldest one for it. An entry that is set
 * again becomes the newest.
 */
export const setNewest = <Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void => {
  map.delete(key)
  const [oldest] = map.keys()
  if (map.size >= max && oldest !== undefined) map.delete(oldest)
  map.set(key, value)
}
