import type { Logger } from '../../ports/logger.js'
import { limited } from '../../schemes/exactDirect/inquiry.js'
import type { Network } from '../../schemes/network.js'
import { findPublicProof } from '../../schemes/publicProof.js'
import type { Authorized, Scheme, Verification } from '../../schemes/scheme.js'
import { canCrossCheck } from '../nodes/crossCheck.js'
import type { Endpoint } from '../nodes/endpoint.js'

interface CrossCheckTerms {
  readonly endpoints: readonly Pick<Endpoint, 'host'>[]
  /** In smallest units; of a token with more than 6 decimals, in millionths of it. */
  readonly crossCheckAmount: bigint
  /** False: the operator accepts the evidence of a single host. */
  readonly isRequired: boolean
  readonly logger: Logger
}

/** Payments from the cross-check amount on, where only one host is configured: it could report one that does not exist. */
interface CrossCheckLimit extends Pick<Network, 'isTooLarge'> {
  /** Refuses them. What was admitted before is settled, and resolved, by the evidence there is. */
  apply(scheme: Scheme): Scheme
}

const usualDecimals = 6

export const createCrossCheckLimit = ({
  endpoints,
  crossCheckAmount,
  isRequired,
  logger,
}: CrossCheckTerms): CrossCheckLimit => {
  if (!isRequired || canCrossCheck(endpoints)) return { isTooLarge: () => false, apply: (scheme) => scheme }

  const isTooLarge = (amount: bigint, decimals: number | null): boolean =>
    amount >= crossCheckAmount * 10n ** BigInt(Math.max(0, (decimals ?? usualDecimals) - usualDecimals))

  const apply = (scheme: Scheme): Scheme => {
    const { network } = scheme.kind
    logger.info(
      {
        network,
        scheme: scheme.kind.scheme,
        amount: `${crossCheckAmount}`,
        hint: 'payments from this amount on are refused until the network has endpoints of two hosts',
      },
      'network.single_endpoint',
    )

    const isLarge = async (amount: bigint, asset: string): Promise<boolean> => {
      if (amount < crossCheckAmount) return false
      const terms = await scheme.describeAsset(asset, null)
      return isTooLarge(amount, terms?.decimals ?? null)
    }

    const verify: Scheme['verify'] = async (payment, options): Promise<Verification> => {
      const verdict = await scheme.verify(payment, options)
      const { asset, amount } = payment.requirements
      const isAdmitted = options.isAdmitted === true || scheme.continues?.(payment) === true
      if (!verdict.isValid || isAdmitted) return verdict
      if (!(await isLarge(verdict.atStake ?? verdict.amount, asset))) return verdict
      // The transfer is sent: its surplus must not keep what is required from counting.
      if (findPublicProof(scheme) !== null && !(await isLarge(amount, asset))) return limitTo(amount, verdict)
      return {
        isValid: false,
        payer: verdict.payer,
        reason: 'cross_check_unavailable',
        message: `From ${crossCheckAmount} on (millionths of a token), two nodes must confirm a payment, and ${network} has one`,
      }
    }
    return { ...scheme, verify }
  }

  return { isTooLarge, apply }
}

/** Records no more than what is required. */
const limitTo = (amount: bigint, verdict: Authorized): Authorized => ({
  ...verdict,
  amount,
  authorizedAmount: amount,
  details: { ...verdict.details, ...limited },
  settle: async (recorder, options) => {
    const outcome = await verdict.settle(recorder, options)
    return outcome.state === 'confirmed' ? { ...outcome, settledAmount: amount } : outcome
  },
})
