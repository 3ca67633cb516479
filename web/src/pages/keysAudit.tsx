import type { Answer } from '../api.js'
import { api } from '../session.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Listing } from '../ui/Listing.js'
import { Card, Empty, Page } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { Time } from '../ui/values.js'
import { useLoad } from '../useLoad.js'
import type { ConsolePage, PageInput } from './page.js'

type Entry = Answer<'/dashboard/audit'>['entries'][number]

const words: Readonly<Record<Entry['action'], string>> = {
  'account.registered': 'Project registered',
  'account.revoked': 'Project revoked',
  'key.created': 'Key created',
  'key.revoked': 'Key revoked',
  'key.rotated': 'Key rotated',
  'recipient.deleted': 'Recipient deleted',
  'recipient.stated': 'Recipient stated',
  'restrictions.changed': 'Restrictions changed',
  'tier.changed': 'Tier changed',
  'webhook.changed': 'Webhook set',
  'webhook.removed': 'Webhook removed',
  'webhook.secret_rotated': 'Signing secret rotated',
}

/** `round` grows with every change of this page. */
export const LatestChanges = ({ round }: { readonly round: number }) => {
  const { data, error, reload } = useLoad(
    (signal) => api.get('/dashboard/audit', { query: { limit: 5 }, signal }),
    [round],
  )
  return (
    <Card title="Latest changes" actions={<a href="/console/keys/audit">All changes</a>}>
      {error === null ? null : <ErrorNote error={error} onRetry={reload} />}
      {data === null ? null : <ChangeTable entries={data.entries} />}
    </Card>
  )
}

const ChangeTable = ({ entries }: { readonly entries: readonly Entry[] }) => (
  <Table
    caption="Changes, newest first"
    rows={entries}
    getKey={({ id }) => id}
    columns={[
      {
        label: 'Change',
        render: ({ action, details }) => (
          <>
            <strong>{words[action] ?? action}</strong>
            <span class="soft details">{writeDetails(details)}</span>
          </>
        ),
      },
      {
        label: 'By',
        isExtra: true,
        render: ({ actor }) => <span title={actor}>{actor.replace(/ \([0-9a-f-]{36}\)$/, '')}</span>,
      },
      { label: 'From', isExtra: true, render: ({ address }) => address ?? '–' },
      { label: 'When', align: 'end', render: ({ createdAt }) => <Time at={createdAt} /> },
    ]}
  />
)

/** Ids are left out: names say the same. */
const writeDetails = (details: Entry['details']): string =>
  Object.entries(details)
    .filter(([name, value]) => value !== null && !/Id$/.test(name))
    .map(([name, value]) => `${name}: ${writeValue(value)}`)
    .join(' · ')

const writeValue = (value: unknown): string => {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(String).join(', ')
  return typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value)
}

const Audit = ({ query }: Pick<PageInput, 'query'>) => {
  const cursor = query.get('cursor')
  const loaded = useLoad(
    (signal) =>
      api.get('/dashboard/audit', { query: { limit: 50, ...(cursor === null ? {} : { cursor }) }, signal }),
    [cursor],
  )
  return (
    <Page title="Changes" lead={<a href="/console/keys">Keys</a>}>
      <Listing
        noun="changes"
        loaded={loaded}
        isEmpty={loaded.data?.entries.length === 0}
        cursor={cursor}
        isFiltered={false}
        empty={<Empty title="Nothing was changed in the last 400 days." />}
      >
        <ChangeTable entries={loaded.data?.entries ?? []} />
      </Listing>
    </Page>
  )
}

export const auditPage: ConsolePage = {
  path: '/console/keys/audit',
  label: null,
  render: ({ query }) => <Audit query={query} />,
}
