import type { ComponentChildren } from 'preact'
import { useId, useState } from 'preact/hooks'
import type { Schemas } from '../api.js'
import { networks } from '../networks.js'
import { navigate, withQuery } from '../router.js'
import { api } from '../session.js'
import { useStore } from '../store.js'
import { Choice, Listing } from '../ui/Listing.js'
import { Empty, Page } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { Amount, NetworkName, Time } from '../ui/values.js'
import { useLoad } from '../useLoad.js'
import type { ConsolePage, PageInput } from './page.js'

export type Resource = Schemas['DiscoveredResource']

const types = [
  { value: 'http', label: 'HTTP' },
  { value: 'mcp', label: 'MCP tool' },
] as const

const Discovery = ({ query }: Pick<PageInput, 'query'>) => {
  const type = types.find(({ value }) => value === query.get('type'))?.value
  const network = query.get('network') ?? undefined
  const payTo = query.get('payTo') ?? undefined
  const q = query.get('q') ?? undefined
  const cursor = query.get('cursor')
  const loaded = useLoad(
    (signal) =>
      api.get('/discovery/resources', {
        query: {
          limit: 50,
          ...(type === undefined ? {} : { type }),
          ...(network === undefined ? {} : { network }),
          ...(payTo === undefined ? {} : { payTo }),
          ...(q === undefined ? {} : { q }),
          ...(cursor === null ? {} : { cursor }),
        },
        signal,
      }),
    [type, network, payTo, q, cursor],
  )
  const resources = loaded.data?.items ?? []
  const known = useStore(networks)
  return (
    <Page
      title="Discovery"
      lead="Resources that were paid for here, and declare themselves. Find your own by their recipient."
    >
      <search aria-label="Resources">
        <Filters key={`${q} ${payTo}`} q={q} payTo={payTo}>
          <Choice label="Type" name="type" value={type} options={types} />
          <Choice
            label="Network"
            name="network"
            value={network}
            options={known.map((each) => ({ value: each.network, label: each.name }))}
          />
        </Filters>
      </search>
      <Listing
        noun="resources"
        loaded={loaded}
        isEmpty={resources.length === 0}
        cursor={cursor}
        isFiltered={[type, network, payTo, q].some((each) => each !== undefined)}
        pager={{ first: 'First page', next: 'More' }}
        empty={
          <Empty title="No resource is listed yet.">
            <p>
              Declare the extension <code>bazaar</code> in your 402 answers: the first payment that repeats it
              lists the resource.
            </p>
          </Empty>
        }
      >
        <ResourceTable resources={resources} />
      </Listing>
    </Page>
  )
}

interface FiltersProps {
  readonly q: string | undefined
  readonly payTo: string | undefined
  readonly children: ComponentChildren
}

const Filters = ({ q = '', payTo = '', children }: FiltersProps) => {
  const [words, setWords] = useState(q)
  const [recipient, setRecipient] = useState(payTo)
  const id = useId()
  const find = (event: Event) => {
    event.preventDefault()
    navigate(withQuery({ q: words.trim(), payTo: recipient.trim(), cursor: null }))
  }
  return (
    <form class="filters" onSubmit={find}>
      {children}
      <div class="grow">
        <label for={`${id}-words`}>Words</label>
        <input
          id={`${id}-words`}
          type="search"
          maxLength={400}
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
      </div>
      <div class="grow">
        <label for={`${id}-recipient`}>Recipient</label>
        <input
          id={`${id}-recipient`}
          type="search"
          spellcheck={false}
          maxLength={128}
          value={recipient}
          onInput={(event) => setRecipient(event.currentTarget.value)}
        />
      </div>
      <button type="submit" class="button">
        Find
      </button>
    </form>
  )
}

const ResourceTable = ({ resources }: { readonly resources: readonly Resource[] }) => (
  <Table
    caption="Resources, by payers and recency"
    rows={resources}
    getKey={({ id }) => id}
    getClass={() => 'linked'}
    columns={[
      {
        label: 'Resource',
        render: ({ id, metadata, resource }) => (
          <>
            <a class="row-link" href={`/console/discovery/${id}`}>
              {metadata.toolName ?? metadata.provider}
            </a>
            <span class="soft details">{resource}</span>
          </>
        ),
      },
      { label: 'Type', isExtra: true, render: ({ type }) => type.toUpperCase() },
      {
        label: 'Price',
        render: ({ accepts: [terms] }) => (terms === undefined ? null : <Amount {...terms} />),
      },
      { label: 'Network', isExtra: true, render: ({ network }) => <NetworkName network={network} /> },
      { label: 'Payers', isExtra: true, align: 'end', render: ({ distinctPayers }) => distinctPayers },
      { label: 'Last paid', align: 'end', render: ({ lastUpdated }) => <Time at={lastUpdated} /> },
    ]}
  />
)

export const discoveryPage: ConsolePage = {
  path: '/console/discovery',
  label: 'Discovery',
  render: ({ query }) => <Discovery query={query} />,
}
