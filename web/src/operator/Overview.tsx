import type { Schemas } from '../api.js'
import { formatSeconds } from '../format.js'
import { nameOf, networks } from '../networks.js'
import { useStore } from '../store.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Card } from '../ui/layout.js'
import { ExactTime, Time } from '../ui/values.js'
import { InstanceCards } from './InstanceCards.js'
import { listMatters } from './matters.js'
import { NetworkCard } from './NetworkCard.js'
import { SharedCards } from './SharedCards.js'
import { useOverview } from './useOverview.js'

export const Overview = () => {
  useStore(networks)
  const { overview, error, ageMs, isStale, reload } = useOverview()
  return (
    <>
      {error === null ? null : <ErrorNote error={error} onRetry={reload} />}
      {isStale ? (
        <div class="note warn" role="status">
          <p>
            <strong>This is not current.</strong> The last answer is {formatSeconds(ageMs / 1_000)} old.
          </p>
        </div>
      ) : null}
      {overview !== null ? (
        <div class={error === null ? '' : 'stale'}>
          <Everything overview={overview} />
        </div>
      ) : error === null ? (
        <p class="soft">Loading …</p>
      ) : null}
    </>
  )
}

const Everything = ({ overview }: { readonly overview: Schemas['OperatorOverview'] }) => {
  const { at, instance, shared } = overview
  return (
    <>
      <MatterList overview={overview} />
      <h2 class="of">
        This instance{' '}
        <span class="soft">
          version {instance.version}, started <Time at={instance.startedAt} />, read at <ExactTime at={at} />
        </span>
      </h2>
      <div class="stack">
        {instance.networks.map((network) => (
          <NetworkCard key={network.network} network={network} />
        ))}
        <InstanceCards instance={instance} />
      </div>
      <h2 class="of">
        All instances <span class="soft">on one database</span>
      </h2>
      <div class="stack">
        <SharedCards shared={shared} />
      </div>
    </>
  )
}

const MatterList = ({ overview }: { readonly overview: Schemas['OperatorOverview'] }) => {
  const matters = listMatters(overview, nameOf)
  const { pauses } = overview.instance
  return (
    <Card title="Needs attention">
      {matters.length === 0 ? <p>Nothing now.</p> : null}
      <ul class="matters">
        {matters.map(({ tone, title, detail }) => (
          <li key={`${title} ${detail}`} class={tone}>
            <span class="dot" aria-hidden="true" />
            <span>
              <strong>{title}</strong> <span class="soft">{detail}</span>
            </span>
          </li>
        ))}
        {pauses === 0 ? null : (
          <li class="warn">
            <span class="dot" aria-hidden="true" />
            <span>
              <strong>{pauses === 1 ? 'A pause holds' : `${pauses} pauses hold`}</strong>{' '}
              <a href="/console/operator/pauses">Show what is paused</a>
            </span>
          </li>
        )}
      </ul>
    </Card>
  )
}
