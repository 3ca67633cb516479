import { Counter, type CounterConfiguration } from 'prom-client'

/** Buffers counts until the next scrape: each prom-client call validates and hashes labels (microseconds). */
export const createBufferedCounter = <Label extends string>(configuration: CounterConfiguration<Label>) => {
  const counts = new Map<string, { readonly labels: Readonly<Record<Label, string>>; count: number }>()
  const metric = new Counter({
    ...configuration,
    collect() {
      for (const entry of counts.values()) {
        if (entry.count > 0) this.inc(entry.labels, entry.count)
        entry.count = 0
      }
    },
  })
  return {
    metric,
    count: (labels: Readonly<Record<Label, string>>): void => {
      let key = ''
      for (const name in labels) key += `${labels[name]}\n`
      const entry = counts.get(key)
      if (entry === undefined) counts.set(key, { labels, count: 1 })
      else entry.count += 1
    },
  }
}
