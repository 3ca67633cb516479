import type { Clock } from '../../ports/clock.js'
import type { SandboxScenarios } from '../../ports/sandbox.js'
import type { FixedPayer, FixedScript } from './fixedPayers.js'

/** The script of a payer without a key, and the clock on which it runs. */
export interface Scripted {
  readonly payer: string
  readonly script: FixedScript
  /** Null: the service's clock. */
  readonly scenarioId: string | null
  readonly nowMs: number
}

/**
 * Null if no script decides. A fixed payer may be named anywhere; of scenarios only the first payer counts, whose
 * authorization id the payment has: another's could be spent otherwise.
 */
export type FindScript = (payers: readonly string[]) => Promise<Scripted | null>

export const createFindScript =
  ({
    network,
    fixed,
    scenarios,
    clock,
  }: {
    readonly network: string
    readonly fixed: readonly FixedPayer[]
    readonly scenarios: SandboxScenarios | undefined
    readonly clock: Pick<Clock, 'now'>
  }): FindScript =>
  async (payers) => {
    const known = fixed.find(({ address }) => payers.includes(address))
    if (known !== undefined) {
      const { address: payer, script } = known
      return { payer, script, scenarioId: null, nowMs: clock.now().getTime() }
    }
    const [payer] = payers
    const scenario = payer === undefined ? null : ((await scenarios?.findByPayer(network, payer)) ?? null)
    if (scenario === null || payer === undefined) return null
    const script = { ...scenario.script, settleRefusal: null, delayMs: 0 }
    return { payer, script, scenarioId: scenario.id, nowMs: scenario.clockMs }
  }
