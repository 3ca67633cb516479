export const mapValues = <Value, Mapped>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value, key: string) => Mapped,
): Record<string, Mapped> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, map(value, key)]))
