import { useEffect } from 'preact/hooks'
import { formatRelative, formatUnits, shorten } from '../format.js'
import { findToken, nameOf, networks } from '../networks.js'
import { createStore, useStore } from '../store.js'

type Tone = 'good' | 'warn' | 'bad' | 'plain'

export const Badge = ({ tone, children }: { readonly tone: Tone; readonly children: string }) => (
  <span class={`badge ${tone}`}>
    <span class="dot" aria-hidden="true" />
    {children}
  </span>
)

/** Of payments, streams, intents, holds, deliveries and keys; others are plain. */
const tones: Readonly<Record<string, Tone>> = {
  confirmed: 'good',
  completed: 'good',
  delivered: 'good',
  active: 'good',
  closed: 'good',
  captured: 'good',
  pending: 'warn',
  held: 'warn',
  waiting: 'warn',
  paused: 'warn',
  closing: 'warn',
  routed: 'warn',
  executing: 'warn',
  retiring: 'warn',
  failed: 'bad',
}

export const Status = ({ status }: { readonly status: string }) => (
  <Badge tone={tones[status] ?? 'plain'}>{`${status.slice(0, 1).toUpperCase()}${status.slice(1)}`}</Badge>
)

interface AmountProps {
  /** In smallest units. */
  readonly amount: string
  readonly network: string
  readonly asset: string
}

/** Smallest units of a token that this instance does not know. */
export const Amount = ({ amount, network, asset }: AmountProps) => {
  useStore(networks)
  const token = findToken(network, asset)
  if (token === null) {
    return (
      <span class="amount" title={asset}>
        {formatUnits(amount, 0)} <span class="unit">units of {shorten(asset)}</span>
      </span>
    )
  }
  return (
    <span class="amount" title={`${amount} smallest units of ${asset}`}>
      {formatUnits(amount, token.decimals)} <span class="unit">{token.symbol}</span>
    </span>
  )
}

export const NetworkName = ({ network }: { readonly network: string }) => {
  useStore(networks)
  return <span title={network}>{nameOf(network)}</span>
}

/** Relative, and the exact time on hover. All on a page move on together. */
export const Time = ({ at }: { readonly at: string }) => {
  const now = useStore(minute)
  useEffect(() => {
    readers += 1
    if (readers === 1) timer = setInterval(() => minute.set(new Date()), 15_000)
    return () => {
      readers -= 1
      if (readers === 0) clearInterval(timer)
    }
  }, [])
  const date = new Date(at)
  const latest = now > date ? now : new Date()
  return (
    <time dateTime={at} title={exactTime.format(date)}>
      {formatRelative(date, latest)}
    </time>
  )
}

const minute = createStore(new Date())
let readers = 0
let timer: ReturnType<typeof setInterval> | undefined

const exactTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

export const ExactTime = ({ at }: { readonly at: string }) => (
  <time dateTime={at}>{exactTime.format(new Date(at))}</time>
)
