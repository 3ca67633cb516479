import { useState } from 'preact/hooks'
import { api } from '../session.js'
import { Confirm } from '../ui/Confirm.js'
import { Code, CodeBlock } from '../ui/copy.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Card, Empty, Fact, Facts, Page } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { Amount, Badge, ExactTime, NetworkName } from '../ui/values.js'
import { useAction } from '../useAction.js'
import { useLoad } from '../useLoad.js'
import type { Resource } from './discovery.js'
import type { ConsolePage } from './page.js'

type Listing = 'listed' | 'unlisted' | 'stale'

const ResourcePage = ({ id }: { readonly id: string }) => {
  const { data, error, reload, isLoading } = useLoad(
    (signal) => api.get('/discovery/resources/{id}', { params: { id }, signal }),
    [id],
  )
  const [listing, setListing] = useState<Listing | null>(null)
  const isMissing = error !== null && (error.status === 404 || error.status === 400)
  const onListing = (changed: Listing) => {
    setListing(changed)
    if (changed === 'listed') reload()
  }
  return (
    <Page
      title={data === null ? 'Resource' : (data.metadata.toolName ?? data.metadata.provider)}
      lead={<a href="/console/discovery">All resources</a>}
      actions={
        data === null ? undefined : listing === null || listing === 'listed' ? (
          <Badge tone="good">Listed</Badge>
        ) : (
          <Badge tone="plain">Not listed</Badge>
        )
      }
    >
      {error === null || isMissing ? null : <ErrorNote error={error} onRetry={reload} />}
      {data === null && isLoading ? <p class="soft">Loading …</p> : null}
      {isMissing && data === null ? (
        <Empty title="No resource with this id is listed.">
          <p>A resource that its owner unlisted, or that was not paid for long, is not shown.</p>
          <Relist id={id} onListing={onListing} />
        </Empty>
      ) : null}
      {data === null ? null : (
        <div class="columns">
          <Facing resource={data} />
          <div class="stack">
            <Ownership id={id} listing={listing} onListing={onListing} />
            <Declaration resource={data} />
          </div>
        </div>
      )}
    </Page>
  )
}

/** Text of strangers: it is shown as text, and never as a link. */
const Facing = ({ resource }: { readonly resource: Resource }) => (
  <div class="stack">
    <Card title="Listing" form="receipt">
      {resource.description === undefined ? null : <p class="advice">{resource.description}</p>}
      <Facts>
        <Fact name="Type">{resource.type.toUpperCase()}</Fact>
        {resource.metadata.method === undefined ? null : (
          <Fact name="Method">{resource.metadata.method}</Fact>
        )}
        {resource.tags === undefined ? null : <Fact name="Tags">{resource.tags.join(', ')}</Fact>}
        <Fact name="Payers">{resource.distinctPayers}</Fact>
        <Fact name="First paid">
          <ExactTime at={resource.discoveredAt} />
        </Fact>
        <Fact name="Last paid">
          <ExactTime at={resource.lastUpdated} />
        </Fact>
      </Facts>
      <dl class="long-facts">
        <Fact name="Resource">
          <Code text={resource.resource} label="resource" />
        </Fact>
        <Fact name="Id">
          <Code text={resource.id} label="id" />
        </Fact>
      </dl>
    </Card>
    <Card title="Terms">
      <Table
        caption="Terms that were paid, latest first"
        rows={resource.accepts}
        getKey={({ scheme, network, asset, payTo }) => `${scheme} ${network} ${asset} ${payTo}`}
        columns={[
          { label: 'Price', render: (terms) => <Amount {...terms} /> },
          {
            label: 'Network',
            render: ({ network, scheme }) => (
              <>
                <NetworkName network={network} /> <span class="soft">{scheme}</span>
              </>
            ),
          },
          {
            label: 'Recipient',
            isExtra: true,
            render: ({ payTo }) => <Code text={payTo} label="recipient" />,
          },
        ]}
      />
    </Card>
  </div>
)

const Declaration = ({ resource: { extensions } }: { readonly resource: Resource }) =>
  extensions?.bazaar === undefined ? null : (
    <Card title="Declaration">
      <CodeBlock label="What the resource declares" text={JSON.stringify(extensions.bazaar, null, 2)} />
    </Card>
  )

interface OwnershipProps {
  readonly id: string
  /** Null: as it was loaded. */
  readonly listing: Listing | null
  readonly onListing: (listing: Listing) => void
}

const Ownership = ({ id, listing, onListing }: OwnershipProps) => (
  <Card title="Is it yours?">
    {listing === 'unlisted' ? (
      <>
        <p>It is unlisted, and payments do not list it again.</p>
        <Relist id={id} onListing={onListing} />
      </>
    ) : (
      <>
        <p>
          The project that owns a listing can take it off the list. A recipient without a key signs instead:
          see the <a href="/docs">API reference</a>.
        </p>
        <Unlist id={id} onListing={onListing} />
      </>
    )}
  </Card>
)

type ChangeProps = Pick<OwnershipProps, 'id' | 'onListing'>

const Unlist = ({ id, onListing }: ChangeProps) => {
  const [isAsked, setAsked] = useState(false)
  const change = useAction()
  const unlist = async () => {
    const changed = await change.run(() =>
      api.delete('/discovery/resources/{id}', { params: { id }, isForOwners: true }),
    )
    if (changed !== null) onListing(changed.listing)
  }
  return (
    <>
      <div class="actions more">
        <button type="button" class="button" onClick={() => setAsked(true)}>
          Unlist
        </button>
      </div>
      {isAsked ? (
        <Confirm
          title="Unlist the resource"
          action="Unlist"
          {...change}
          onConfirm={() => void unlist()}
          onClose={() => {
            setAsked(false)
            change.clear()
          }}
        >
          <p>Clients do not find it any more until it is listed again. Payments for it work as before.</p>
        </Confirm>
      ) : null}
    </>
  )
}

const Relist = ({ id, onListing }: ChangeProps) => {
  const { isBusy, error, run } = useAction()
  const relist = async () => {
    const changed = await run(() =>
      api.post('/discovery/resources/{id}/relist', { params: { id }, isForOwners: true }),
    )
    if (changed !== null) onListing(changed.listing)
  }
  return (
    <>
      <div class="actions more">
        <button type="button" class="button" disabled={isBusy} onClick={() => void relist()}>
          List it again
        </button>
      </div>
      {error === null ? null : <ErrorNote error={error} />}
    </>
  )
}

export const resourcePage: ConsolePage = {
  path: '/console/discovery/:id',
  label: null,
  render: ({ params }) => <ResourcePage key={params.id} id={params.id ?? ''} />,
}
