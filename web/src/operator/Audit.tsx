import type { Answer } from '../api.js'
import { Listing } from '../ui/Listing.js'
import { Card, Empty } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { Time } from '../ui/values.js'
import { useLoad } from '../useLoad.js'
import { operatorApi } from './session.js'

type Entry = Answer<'/v1/operator/audit'>['entries'][number]
type Fields = Entry['before']

const pageSize = 50

export const Audit = ({ query }: { readonly query: URLSearchParams }) => {
  const cursor = query.get('cursor')
  const loaded = useLoad(
    (signal) =>
      operatorApi.get('/v1/operator/audit', {
        query: { limit: pageSize, ...(cursor === null ? {} : { cursor }) },
        signal,
      }),
    [cursor],
  )
  return (
    <Card title="Actions">
      <Listing
        noun="actions"
        loaded={loaded}
        isEmpty={loaded.data?.entries.length === 0}
        cursor={cursor}
        isFiltered={false}
        empty={<Empty title="No operator did anything in the last 90 days." />}
      >
        <Table
          caption="Actions of operators, newest first"
          rows={loaded.data?.entries ?? []}
          getKey={({ id }) => id}
          columns={[
            {
              label: 'Action',
              render: ({ action, target }) => (
                <>
                  <strong>{action}</strong>
                  <span class="soft">{writeFields(target)}</span>
                </>
              ),
            },
            {
              label: 'Before and after',
              isExtra: true,
              render: ({ before, after }) => (
                <span class="change">
                  {writeFields(before)} → {writeFields(after)}
                </span>
              ),
            },
            { label: 'By', render: ({ by }) => by ?? '–' },
            { label: 'From', isExtra: true, render: ({ address }) => address ?? '–' },
            { label: 'When', align: 'end', render: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
      </Listing>
    </Card>
  )
}

const writeFields = (fields: Fields): string =>
  fields === null
    ? 'nothing'
    : Object.entries(fields)
        .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(', ')
