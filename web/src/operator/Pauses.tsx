import { useState } from 'preact/hooks'
import type { Schemas } from '../api.js'
import { networks } from '../networks.js'
import { useStore } from '../store.js'
import { Confirm } from '../ui/Confirm.js'
import { ErrorNote } from '../ui/ErrorNote.js'
import { Card, Empty } from '../ui/layout.js'
import { Table } from '../ui/Table.js'
import { Time } from '../ui/values.js'
import { useAction } from '../useAction.js'
import { useLoad } from '../useLoad.js'
import { NameField } from './NameField.js'
import { PauseForm } from './PauseForm.js'
import { operatorApi, readOperatorName } from './session.js'
import { describeTarget, type PauseTarget } from './target.js'

type Pause = Schemas['Pause']

export const Pauses = () => {
  useStore(networks)
  const { data, error, reload, update } = useLoad(
    (signal) => operatorApi.get('/v1/operator/pauses', { signal }),
    [],
  )
  const [asked, setAsked] = useState<PauseTarget | null>(null)
  const show = (pauses: readonly Pause[]) => {
    setAsked(null)
    update((before) => ({ ...before, pauses: [...pauses] }))
  }
  return (
    <div class="stack">
      <Card title="Paused now">
        {error === null ? null : <ErrorNote error={error} onRetry={reload} />}
        {data === null ? (
          error === null ? (
            <p class="soft">Loading …</p>
          ) : null
        ) : data.pauses.length === 0 ? (
          <Empty title="Nothing is paused." />
        ) : (
          <PauseTable pauses={data.pauses} onResume={setAsked} />
        )}
      </Card>
      <PauseForm onSet={reload} />
      {asked === null ? null : <Resume target={asked} onDone={show} onClose={() => setAsked(null)} />}
    </div>
  )
}

interface PauseTableProps {
  readonly pauses: readonly Pause[]
  readonly onResume: (target: PauseTarget) => void
}

const PauseTable = ({ pauses, onResume }: PauseTableProps) => (
  <Table
    caption="Pauses, oldest first"
    rows={pauses}
    getKey={({ target }) => JSON.stringify(target)}
    columns={[
      {
        label: 'Paused',
        render: ({ target, reason }) => (
          <>
            <strong>{describeTarget(target)}</strong>
            <span class="soft">{reason}</span>
          </>
        ),
      },
      { label: 'By', isExtra: true, render: ({ by }) => by ?? '–' },
      { label: 'Since', isExtra: true, render: ({ since }) => <Time at={since} /> },
      {
        label: 'Resume',
        align: 'end',
        render: ({ target }) => (
          <button
            type="button"
            class="button quiet"
            aria-label={`Resume ${describeTarget(target)}`}
            onClick={() => onResume(target)}
          >
            Resume
          </button>
        ),
      },
    ]}
  />
)

interface ResumeProps {
  readonly target: PauseTarget
  readonly onDone: (pauses: readonly Pause[]) => void
  readonly onClose: () => void
}

const Resume = ({ target, onDone, onClose }: ResumeProps) => {
  const change = useAction()
  const resume = async () => {
    const cleared = await change.run(() =>
      operatorApi.delete('/v1/operator/pauses', { query: { ...target, ...readOperatorName() } }),
    )
    if (cleared !== null) onDone(cleared.pauses)
  }
  return (
    <Confirm
      title={`Resume ${describeTarget(target)}`}
      action="Resume"
      {...change}
      onConfirm={() => void resume()}
      onClose={onClose}
    >
      <p>
        New payments are accepted again, on all instances within two seconds, unless another pause holds them.
      </p>
      <NameField />
    </Confirm>
  )
}
