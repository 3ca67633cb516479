import { Counter, type CounterConfiguration } from 'prom-client'

interface Series<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>
  count: number
}

/** Label values in the order of their names, and a series at the end. */
type Tree<Label extends string> = Map<string, Tree<Label> | Series<Label>>

/**
 * Buffers counts until the next scrape: each prom-client call validates and hashes labels (microseconds). A series is found by
 * the values themselves: a key made of them would be hashed for each request.
 */
export const createBufferedCounter = <Label extends string>(
  configuration: CounterConfiguration<Label> & { readonly labelNames: readonly Label[] },
) => {
  const { labelNames } = configuration
  const tree: Tree<Label> = new Map()
  const series: Series<Label>[] = []
  const metric = new Counter({
    ...configuration,
    collect() {
      for (const entry of series) {
        if (entry.count > 0) this.inc(entry.labels, entry.count)
        entry.count = 0
      }
    },
  })

  const add = (labels: Readonly<Record<Label, string>>): void => {
    const created = { labels: { ...labels }, count: 1 }
    series.push(created)
    let node = tree
    for (const name of labelNames.slice(0, -1)) {
      const next = node.get(labels[name])
      const child: Tree<Label> = next instanceof Map ? next : new Map()
      node.set(labels[name], child)
      node = child
    }
    const last = labelNames.at(-1)
    node.set(last === undefined ? '' : labels[last], created)
  }

  return {
    metric,
    count: (labels: Readonly<Record<Label, string>>): void => {
      let node: Tree<Label> | Series<Label> | undefined = tree
      for (const name of labelNames) {
        if (!(node instanceof Map)) break
        node = node.get(labels[name])
      }
      if (node === undefined || node instanceof Map) add(labels)
      else node.count += 1
    },
  }
}
