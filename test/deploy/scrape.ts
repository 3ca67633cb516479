/** Values of a page of `/metrics` by series, as text. */
export type Scrape = ReadonlyMap<string, string>

interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: string
}

const line = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/
const label = /([a-z_]+)="((?:[^"\\]|\\.)*)"/g

/** Samples of a page in the Prometheus text format. */
export const readSamples = (page: string): readonly Sample[] =>
  page
    .split('\n')
    .filter((each) => each !== '' && !each.startsWith('#'))
    .map((each) => {
      const [, name = '', labels = '', value = ''] = line.exec(each) ?? []
      if (name === '') throw new Error(`No sample: ${each}`)
      const pairs = [...labels.matchAll(label)].map(([, key = '', text = '']) => [key, text] as const)
      return { name, labels: Object.fromEntries(pairs), value }
    })

/** With the labels that a Prometheus adds for the instance. */
export const readScrape = (page: string): Scrape =>
  new Map(
    readSamples(page)
      .filter(({ name }) => /^(?:quittance|facilitator)_/.test(name))
      .map(({ name, labels, value }) => [nameSeries(name, labels), value]),
  )

export const nameSeries = (name: string, labels: Readonly<Record<string, string>> = {}): string => {
  const all = { job: 'quittance', instance: 'quittance:8080', ...labels }
  return `${name}{${Object.entries(all)
    .map(([key, text]) => `${key}="${text}"`)
    .join(',')}}`
}
