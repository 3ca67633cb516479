import { useId, useRef, useState } from 'preact/hooks'
import type { Result, Schemas } from '../api.js'
import { formatUnits, readUnits } from '../format.js'
import { findToken, networks } from '../networks.js'
import { api } from '../session.js'
import { useStore } from '../store.js'
import { AtDeadlineChoice } from '../ui/AtDeadlineChoice.js'
import { Confirm } from '../ui/Confirm.js'
import { LoadedParts } from '../ui/LoadedParts.js'
import { Card, Empty, Fact, Facts, Page } from '../ui/layout.js'
import { Parties } from '../ui/Parties.js'
import { ReasonCard } from '../ui/ReasonCard.js'
import { Table } from '../ui/Table.js'
import { Amount, ExactTime, NetworkName, Status, Time } from '../ui/values.js'
import { useAction } from '../useAction.js'
import { useLoad } from '../useLoad.js'
import { useReloadOnEvents } from '../useReloadOnEvents.js'
import type { ConsolePage } from './page.js'

type Details = Schemas['HeldPaymentDetails']
type Moved = Schemas['MovedHold']

interface HoldPageProps {
  readonly network: string
  readonly hash: string
}

const HoldPage = ({ network, hash }: HoldPageProps) => {
  const [moved, setMoved] = useState<Moved | null>(null)
  const loaded = useLoad<Details>(
    (signal) =>
      api.get('/v1/payments/{network}/{paymentInfoHash}', {
        params: { network, paymentInfoHash: hash },
        signal,
      }),
    [network, hash],
  )
  const { data, reload } = loaded
  useReloadOnEvents('hold', reload)
  const refused = [moved, moved?.void].find((each) => each?.status === 'failed')
  return (
    <Page
      title="Hold"
      lead={<a href="/console/holds">All holds</a>}
      actions={data === null ? undefined : <Status status={data.status} />}
    >
      <LoadedParts loaded={loaded} missing={<Empty title="There is no such hold." />}>
        {(data) => (
          <>
            <div class="columns">
              <Receipt hold={data} />
              <div class="stack">
                <State
                  hold={data}
                  isUnderWay={moved?.status === 'pending'}
                  onMoved={(result) => {
                    setMoved(result)
                    reload()
                  }}
                  onChange={reload}
                />
                <ReasonCard
                  title="Why it was refused"
                  reason={refused?.errorReason}
                  message={refused?.errorMessage}
                />
              </div>
            </div>
            <Settlements hold={data} />
          </>
        )}
      </LoadedParts>
    </Page>
  )
}

const Receipt = ({ hold }: { readonly hold: Details }) => {
  const { network, asset } = hold
  const write = (amount: string) => <Amount amount={amount} network={network} asset={asset} />
  const parts = [
    ['Captured', hold.capturedAmount],
    ['Can be captured', hold.capturableAmount],
    ['Voided', hold.voidedAmount],
    ['Taken back by the payer', hold.reclaimedAmount],
    ['Refunded', hold.refundedAmount],
  ] as const
  return (
    <Card title="Receipt" form="receipt">
      <p class="total-amount">{write(hold.amount)}</p>
      <Facts>
        {parts.map(([name, amount]) =>
          amount === '0' ? null : (
            <Fact key={name} name={name}>
              {write(amount)}
            </Fact>
          ),
        )}
        <Fact name="Network">
          <NetworkName network={network} />
        </Fact>
        <Fact name="Held">
          <ExactTime at={hold.createdAt} />
        </Fact>
        <Fact name="Capture until">
          <ExactTime at={hold.captureDeadline} />
        </Fact>
        <Fact name="Refund until">
          <ExactTime at={hold.refundDeadline} />
        </Fact>
      </Facts>
      <Parties
        payer={hold.payer}
        recipient={hold.payTo}
        asset={asset}
        id={['Hash of the payment', hold.paymentInfoHash]}
      />
    </Card>
  )
}

type Move = 'capture' | 'void' | 'refund'

const titles: Readonly<Record<Move, string>> = {
  capture: 'Capture',
  void: 'Void',
  refund: 'Refund',
}

const listMoves = ({ status, capturableAmount, refundableAmount }: Details): readonly Move[] => [
  ...(status === 'held' && capturableAmount !== '0' ? (['capture', 'void'] as const) : []),
  ...(refundableAmount === '0' ? [] : (['refund'] as const)),
]

interface StateProps {
  readonly hold: Details
  readonly isUnderWay: boolean
  readonly onMoved: (moved: Moved) => void
  readonly onChange: () => void
}

const State = ({ hold, isUnderWay, onMoved, onChange }: StateProps) => {
  const [move, setMove] = useState<Move | null>(null)
  const openKeys = useRef(new Map<string, string>())
  return (
    <Card title="State">
      <p>
        <StateSentence hold={hold} />
      </p>
      {isUnderWay ? <p role="status">The last request was sent, and its outcome is not proven yet.</p> : null}
      {hold.status === 'held' || hold.status === 'pending' ? (
        <Deadline hold={hold} onChange={onChange} />
      ) : null}
      <div class="actions more">
        {listMoves(hold).map((each) => (
          <button key={each} type="button" class="button" onClick={() => setMove(each)}>
            {titles[each]}
          </button>
        ))}
      </div>
      {move === null ? null : (
        <MoveDialog
          hold={hold}
          move={move}
          openKeys={openKeys.current}
          onMoved={(result) => {
            setMove(null)
            onMoved(result)
          }}
          onClose={() => {
            setMove(null)
            // What was asked for may have been done, although no answer said so.
            onChange()
          }}
        />
      )}
    </Card>
  )
}

const StateSentence = ({ hold: { status, captureDeadline } }: Pick<StateProps, 'hold'>) => {
  switch (status) {
    case 'pending':
      return <>It is not proven yet that the funds are held.</>
    case 'held':
      return (
        <>
          The funds are held. What is not captured, the payer can take back <Time at={captureDeadline} />.
        </>
      )
    case 'captured':
      return <>All of it was captured.</>
    case 'voided':
      return <>What was not captured was returned to the payer.</>
    case 'expired':
      return <>The deadline has passed: the payer can take back what was not captured.</>
    case 'reclaimed':
      return <>The payer took back what was not captured.</>
    case 'failed':
      return <>The funds were never held.</>
  }
}

const Deadline = ({ hold, onChange }: Pick<StateProps, 'hold' | 'onChange'>) => {
  const { network, paymentInfoHash, atDeadline } = hold
  return (
    <AtDeadlineChoice
      label="Before the deadline"
      value={atDeadline}
      send={(value) =>
        api.post('/v1/payments/{network}/{paymentInfoHash}/deadline', {
          params: { network, paymentInfoHash },
          body: { atDeadline: value },
        })
      }
      onChanged={onChange}
    />
  )
}

/** The service answers after at most 25 s; a capture and its void are two settlements. */
const moveTimeoutMs = 65_000

interface MoveDialogProps {
  readonly hold: Details
  readonly move: Move
  /** Idempotency keys of what was asked for, and whose outcome is not known yet. */
  readonly openKeys: Map<string, string>
  readonly onMoved: (moved: Moved) => void
  readonly onClose: () => void
}

/** False: it may have been done. */
const isDecided = (result: Result<Moved>): boolean =>
  result.ok ? result.data.status !== 'pending' : result.error.status !== null && result.error.status < 500

const MoveDialog = ({ hold, move, openKeys, onMoved, onClose }: MoveDialogProps) => {
  useStore(networks)
  const { network, asset, paymentInfoHash } = hold
  const decimals = findToken(network, asset)?.decimals ?? 0
  const limit = move === 'refund' ? hold.refundableAmount : hold.capturableAmount
  const [text, setText] = useState(formatUnits(limit, decimals).replaceAll(',', ''))
  const [voidRemainder, setVoidRemainder] = useState(false)
  const change = useAction()
  const id = useId()
  const amount = readUnits(text, decimals)
  const isWrong = move !== 'void' && (amount === null || amount === 0n || amount > BigInt(limit))
  const isWhole = amount === BigInt(limit)
  const send = (idempotencyKey: string): Promise<Result<Moved>> => {
    const input = { idempotencyKey, timeoutMs: moveTimeoutMs }
    const named = { network, paymentInfoHash }
    if (move === 'void') return api.post('/v1/voids', { ...input, body: named })
    const body = { ...named, amount: String(amount) }
    return move === 'refund'
      ? api.post('/v1/refunds', { ...input, body })
      : api.post('/v1/captures', { ...input, body: { ...body, voidRemainder: voidRemainder && !isWhole } })
  }
  const run = async () => {
    if (isWrong) return
    // The same decision is done once until its outcome is known, however often it is sent, and in this dialog or a later one.
    const decision = JSON.stringify([move, String(amount), voidRemainder && !isWhole])
    const key = openKeys.get(decision) ?? crypto.randomUUID()
    openKeys.set(decision, key)
    const moved = await change.run(async () => {
      const result = await send(key)
      if (isDecided(result)) openKeys.delete(decision)
      return result
    })
    if (moved !== null) onMoved(moved)
  }
  return (
    <Confirm
      title={`${titles[move]} the payment`}
      action={titles[move]}
      {...change}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      {move === 'void' ? (
        <p>
          <Amount amount={limit} network={network} asset={asset} /> return to the payer. Nothing more can be
          captured afterwards.
        </p>
      ) : (
        <div>
          <label for={`${id}-amount`}>Amount</label>
          <input
            id={`${id}-amount`}
            type="text"
            inputMode="decimal"
            autocomplete="off"
            value={text}
            aria-describedby={`${id}-limit`}
            aria-invalid={isWrong}
            onInput={(event) => {
              setText(event.currentTarget.value)
              change.clear()
            }}
          />
          <p id={`${id}-limit`} class="small soft">
            More than 0, and at most <Amount amount={limit} network={network} asset={asset} />.
          </p>
        </div>
      )}
      {move !== 'capture' || isWhole ? null : (
        <label class="check">
          <input
            type="checkbox"
            checked={voidRemainder}
            onInput={(event) => {
              setVoidRemainder(event.currentTarget.checked)
              change.clear()
            }}
          />{' '}
          Return the rest to the payer
        </label>
      )}
    </Confirm>
  )
}

const Settlements = ({ hold }: { readonly hold: Details }) =>
  hold.settlements.length === 0 ? null : (
    <Card title="Settlements">
      <Table
        caption="Settlements of the hold, oldest first"
        rows={hold.settlements}
        getKey={({ id }) => id}
        getClass={() => 'linked'}
        columns={[
          {
            label: 'What',
            render: ({ id, type, automatic }) => (
              <>
                <a class="row-link" href={`/console/payments/${id}`}>
                  {type === 'hold' ? 'Hold' : titles[type]}
                </a>
                {automatic ? <span class="mark">at the deadline</span> : null}
              </>
            ),
          },
          {
            label: 'Amount',
            render: ({ amount }) =>
              amount === '0' ? '' : <Amount amount={amount} network={hold.network} asset={hold.asset} />,
          },
          { label: 'Status', render: ({ status }) => <Status status={status} /> },
          {
            label: 'Received',
            align: 'end',
            isExtra: true,
            render: ({ createdAt }) => <Time at={createdAt} />,
          },
        ]}
      />
    </Card>
  )

export const holdPage: ConsolePage = {
  path: '/console/holds/:network/:hash',
  label: null,
  render: ({ params: { network = '', hash = '' } }) => (
    <HoldPage key={`${network} ${hash}`} network={network} hash={hash} />
  ),
}
