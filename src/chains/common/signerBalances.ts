import type { Logger } from '../../ports/logger.js'
import type { NetworkHealth, SignerHealth } from '../chain.js'

export interface SignerBalances {
  /** Logs once when a signer falls below the threshold, and once when it recovers. */
  update(measured: readonly SignerHealth[]): void
  canPay(signer: string): boolean
  list(): readonly SignerHealth[]
  getLevel(): NetworkHealth['balanceLevel']
}

export const createSignerBalances = ({
  network,
  lowBalanceSettlements,
  logger,
}: {
  readonly network: string
  readonly lowBalanceSettlements: number
  readonly logger: Logger
}): SignerBalances => {
  let known: ReadonlyMap<string, SignerHealth> = new Map()

  const reportChange = (before: SignerHealth | undefined, { signer, settlementsLeft }: SignerHealth) => {
    const isLow = settlementsLeft < lowBalanceSettlements
    const wasLow = before !== undefined && before.settlementsLeft < lowBalanceSettlements
    if (isLow === wasLow) return
    const fields = { network, signer, settlementsLeft }
    if (isLow) logger.warn(fields, 'signer.gas_low')
    else logger.info(fields, 'signer.gas_recovered')
  }

  return {
    update: (measured) => {
      for (const one of measured) reportChange(known.get(one.signer), one)
      known = new Map(measured.map((one) => [one.signer, one]))
    },
    canPay: (signer) => (known.get(signer)?.settlementsLeft ?? 0) > 0,
    list: () => [...known.values()],
    getLevel: () => {
      if (known.size === 0) return 'unknown'
      const settlementsLeft = [...known.values()].reduce((sum, one) => sum + one.settlementsLeft, 0)
      if (settlementsLeft === 0) return 'empty'
      return settlementsLeft < lowBalanceSettlements ? 'low' : 'ok'
    },
  }
}

/** How many settlements of a cost a balance pays for, all in smallest units of the native coin; none below the floor. */
export const countSettlementsLeft = (
  balance: bigint,
  { floor, cost }: { readonly floor: bigint; readonly cost: bigint },
): number => (balance < floor ? 0 : Number((balance - floor) / cost) + 1)
