import type { Sandbox } from '../../../src/chains/chain.js'
import { families } from '../../../src/chains/index.js'
import type { Clock } from '../../../src/ports/clock.js'
import type { SandboxScenarios, Scenario } from '../../../src/ports/sandbox.js'
import type { Settlement, SignedTransaction } from '../../../src/ports/settlementJournal.js'
import type { Payment } from '../../../src/protocol/payment.js'
import { isRefused, readPayment } from '../../../src/protocol/readPayment.js'
import { wirePaymentRequest } from '../../../src/protocol/wire.js'
import type { Authorized, Outcome, Scheme, Verification } from '../../../src/schemes/scheme.js'
import { createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import { verifyTraced } from '../../support/explained.js'
import { createManualClock, type ManualClock } from '../../support/manualClock.js'
import { settlement } from '../../support/memoryJournal.js'
import { createMemoryLanes } from '../../support/memoryLanes.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { waitLimitMs } from '../../support/pollUntil.js'
import { createMemoryScenarios, type MemoryScenarios } from '../../support/sandbox/scenarios.js'

export interface Scene {
  readonly clock: ManualClock
  readonly scenarios: MemoryScenarios
  readonly sandbox: Sandbox
  readonly schemes: readonly Scheme[]
  find(scheme: string, network: string): Scheme
  verify(body: unknown, isForSettle?: boolean): Promise<Verification>
  /** Without a trace beside it: what takes time takes it once. */
  verifyOnce(body: unknown): Promise<Verification>
  settle(body: unknown): Promise<Settled>
  /** Another instance: it shares the scenarios only. */
  reopen(): Promise<readonly Scheme[]>
}

interface Settled {
  readonly outcome: Outcome
  readonly scheme: Scheme
  /** The row, as the journal has it. */
  readonly row: Settlement
  readonly authorized: Authorized
}

export const readBody = (body: unknown): Payment => {
  const payment = readPayment(wirePaymentRequest.parse(body))
  if (isRefused(payment)) throw new Error(`The body is refused as ${payment.reason}: ${payment.message}`)
  return payment
}

/** The family, prepared by the list of all families. */
export const prepareSandbox = (environment: Readonly<Record<string, string>>) => {
  const family = families.find(({ namespace }) => namespace === 'sandbox')
  if (family === undefined) throw new Error('There is no sandbox')
  const preparation = family.prepare(environment)
  if ('problems' in preparation) throw new Error(preparation.problems.join())
  return preparation.open
}

const openFamily = async (clock: Clock, scenarios: SandboxScenarios) => {
  const open = prepareSandbox({ SANDBOX: 'true' })
  if (open === null) throw new Error('The sandbox is off')
  return await open({
    clock,
    logger: createMemoryLogger(),
    lanes: createMemoryLanes(),
    limiter: createMemoryRateLimiter({ clock }),
    minPaymentGasShare: 0,
    scenarios,
  })
}

export const openScene = async (): Promise<Scene> => {
  const clock = createManualClock(new Date())
  const scenarios = createMemoryScenarios()
  const { schemes, sandbox } = await openFamily(clock, scenarios)
  if (sandbox === null) throw new Error('The sandbox is missing')
  const find = (scheme: string, network: string): Scheme => {
    const found = schemes.find(({ kind }) => kind.scheme === scheme && kind.network === network)
    if (found === undefined) throw new Error(`There is no ${scheme} on ${network}`)
    return found
  }
  const schemeOf = ({ requirements }: Payment): Scheme => find(requirements.scheme, requirements.network)

  const verify = (body: unknown, isForSettle = false): Promise<Verification> => {
    const payment = readBody(body)
    return verifyTraced(schemeOf(payment), payment, { isAwaited: () => true, isForSettle })
  }

  return {
    clock,
    scenarios,
    sandbox,
    schemes,
    find,
    verify,
    verifyOnce: (body) => schemeOf(readBody(body)).verify(readBody(body), { isAwaited: () => true }),
    settle: async (body) => {
      const authorized = await verify(body, true)
      if (!authorized.isValid) throw new Error(`/settle refuses it as ${authorized.reason}`)
      return await settleAuthorized(schemeOf(readBody(body)), readBody(body), authorized)
    },
    reopen: async () => (await openFamily(clock, scenarios)).schemes,
  }
}

const settleAuthorized = async (
  scheme: Scheme,
  { requirements }: Payment,
  authorized: Authorized,
): Promise<Settled> => {
  const broadcasts: SignedTransaction[] = []
  const { payer, authorizationId, amount, authorizedAmount, details, expiresAt } = authorized
  const { network, asset, payTo } = requirements
  const claimed = settlement({
    ...{ payer, authorizationId, amount, authorizedAmount, details, expiresAt, network, asset, payTo },
    scheme: requirements.scheme,
  })
  const outcome = await authorized.settle(
    { settlementId: claimed.id, record: async (signed) => void broadcasts.push(signed) },
    { waitUntil: AbortSignal.timeout(waitLimitMs) },
  )
  const transaction = broadcasts.at(-1)?.transaction ?? null
  // What was written to the database and read again.
  const stored = JSON.parse(JSON.stringify(details))
  const row = { ...claimed, details: stored, state: 'pending' as const, transaction, broadcasts }
  return { outcome, scheme, row, authorized }
}

export const never = new AbortController().signal

export const resolve = (scheme: Scheme, row: Settlement): Promise<Outcome> => scheme.resolve(row, never)

/** A hand-written payment of a scenario's payer. */
export const scenarioBody = (
  scene: Scene,
  { network, payer }: Pick<Scenario, 'network' | 'payer'>,
  nonce = 'nonce-0001',
) => {
  const example = scene.sandbox
    .listAddresses(scene.clock.now())
    .find(({ networks }) => networks.includes(network))
  if (example === undefined) throw new Error(`${network} has no fixed payer`)
  const requirements = { ...example.request.paymentRequirements, network }
  return {
    paymentPayload: { accepted: requirements, payload: { payer, nonce } },
    paymentRequirements: requirements,
  }
}
