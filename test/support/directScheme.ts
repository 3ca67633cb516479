import type { ChainContext, NetworkHealth, OpenChain, SettingsReading } from '../../src/chains/chain.js'
import { systemClock } from '../../src/platform/clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import type { Clock } from '../../src/ports/clock.js'
import type { Logger } from '../../src/ports/logger.js'
import { isRefused, readPayment } from '../../src/protocol/readPayment.js'
import { wirePaymentRequest } from '../../src/protocol/wire.js'
import type { DirectChain } from '../../src/schemes/exactDirect/directChain.js'
import type { Outcome, Scheme, Verification } from '../../src/schemes/scheme.js'
import { createMemoryRateLimiter } from '../../src/stores/cache/rateLimiter.js'
import { createManualClock } from './manualClock.js'
import { createMemoryLanes } from './memoryLanes.js'
import { waitLimitMs } from './pollUntil.js'

/** The parts of a family that it is opened with. */
interface DirectFamilyModule<Settings> {
  readSettings(environment: Readonly<Record<string, string>>): SettingsReading<Settings>
  open(settings: Settings, context: ChainContext): Promise<OpenChain>
}

/** A scheme for payments that clients made themselves, on one network, without journal and database. */
export interface DirectScheme {
  readonly scheme: Scheme
  readonly chain: DirectChain
  readonly openRecorder: ReturnType<typeof createMemoryLanes>['openRecorder']
  verify(body: unknown): Promise<Verification>
  /** Waits at most this long. */
  settle(body: unknown, waitMs?: number): Promise<Outcome>
  health(): readonly NetworkHealth[]
  close(): Promise<void>
}

export interface DirectSchemeOptions {
  readonly clock?: Clock
  readonly logger?: Logger
  readonly requiresCrossCheck?: boolean
  /** Says that networks are checked again while they are open, which sends requests between any two steps of a test. */
  readonly hasRounds?: boolean
}

export const openDirectScheme = async <Settings>(
  family: DirectFamilyModule<Settings>,
  environment: Readonly<Record<string, string>>,
  {
    clock = systemClock,
    logger = silentLogger,
    requiresCrossCheck,
    hasRounds = false,
  }: DirectSchemeOptions = {},
): Promise<DirectScheme> => {
  const reading = family.readSettings(environment)
  if ('problems' in reading) throw new Error(reading.problems.join('; '))
  if (reading.settings === null) throw new Error('The family is not configured')
  const { settings } = reading
  const { opened, lanes, close } = await openWithMemoryStores(
    (context) =>
      family.open(settings, requiresCrossCheck === undefined ? context : { ...context, requiresCrossCheck }),
    { clock, logger, hasRounds },
  )
  const [scheme] = opened.schemes
  const [chain] = opened.directChains
  if (scheme === undefined || chain === undefined) throw new Error('No scheme was opened')
  const isAwaited = () => true
  return {
    scheme,
    chain,
    openRecorder: lanes.openRecorder,
    verify: (body) => scheme.verify(readDirectBody(body), { isAwaited }),
    settle: async (body, waitMs = waitLimitMs) => {
      const verification = await scheme.verify(readDirectBody(body), { isAwaited, isForSettle: true })
      if (!verification.isValid) return { state: 'failed', reason: verification.reason }
      return await verification.settle(lanes.openRecorder(), { waitUntil: AbortSignal.timeout(waitMs) })
    },
    health: opened.health,
    close,
  }
}

/** Without journal and database. */
export const openWithMemoryStores = async (
  open: (context: ChainContext) => Promise<OpenChain>,
  {
    clock,
    logger,
    hasRounds = false,
  }: Required<Pick<DirectSchemeOptions, 'clock' | 'logger'>> & Pick<DirectSchemeOptions, 'hasRounds'>,
) => {
  const lanes = createMemoryLanes()
  const limiter = createMemoryRateLimiter({ clock })
  const opened = await open({
    // This other clock never reaches the next round.
    clock: hasRounds ? clock : { ...clock, sleep: createManualClock().sleep },
    logger,
    lanes,
    limiter,
    minPaymentGasShare: 0,
  })
  const close = async () => {
    await opened.close()
    await limiter.close()
  }
  return { opened, lanes, close }
}

export const readDirectBody = (body: unknown) => {
  const payment = readPayment(wirePaymentRequest.parse(body))
  if (isRefused(payment)) throw new Error(`The body is refused as ${payment.reason}: ${payment.message}`)
  return payment
}
