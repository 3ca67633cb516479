import { AppError } from '../../../errors.js'
import type { FindPause } from '../../../ports/operatorPauses.js'
import { canonicalAsset, foldAddress } from '../../../protocol/assetId.js'
import { canonicalNetwork } from '../../../protocol/network.js'
import { createMemoPreimage, hashMemo, isMemoPreimage } from '../../../schemes/exactDirect/memo.js'
import { findPublicProof } from '../../../schemes/publicProof.js'
import type { SchemeRegistry } from '../../../schemes/registry.js'
import type { AssetTerms, Scheme } from '../../../schemes/scheme.js'
import { checkTerms, checkUnit } from '../verify/checkRequirements.js'
import { type ClaimRules, noClaimRules } from '../verify/claimRules.js'
import { noPauses } from '../verify/pauses.js'

type Extra = Readonly<Record<string, unknown>>

interface Draft {
  readonly scheme: string
  /** As the caller named it. */
  readonly network: string
  /** Null: the first token of the network. */
  readonly asset: string | null
  readonly payTo: string
  readonly extra: Extra | null | undefined
  /** Used where the recipient demands a memo and `extra` has no preimage. Default: a random one. */
  readonly memoPreimage?: string
  /** Path of the draft in the request, for messages. */
  readonly path: string
}

export interface DraftTerms extends AssetTerms {
  /** As in `Network`. */
  readonly isTooLarge: (amount: bigint) => boolean
}

/** Null if this instance does not settle such payments now. Throws INVALID_REQUEST for a malformed address. */
export type FindTerms = (draft: Draft) => Promise<DraftTerms | null>

type DescribeAsset = (
  scheme: Scheme,
  ...asset: Parameters<Scheme['describeAsset']>
) => ReturnType<Scheme['describeAsset']>

interface FindTermsDependencies {
  readonly registry: SchemeRegistry
  readonly isServing: (network: string) => boolean
  /** Default: payments carry a signature. */
  readonly claimRules?: Pick<ClaimRules, 'findStatement'>
  /** Default: nothing is paused. */
  readonly findPause?: FindPause
  /** Default: the scheme's own. */
  readonly describeAsset?: DescribeAsset
}

/** What only the facilitator knows of requirements: the default token, and the data that clients need to sign. */
export const createFindTerms =
  ({
    registry,
    isServing,
    claimRules = noClaimRules,
    findPause = noPauses.find,
    describeAsset = (scheme, ...asset) => scheme.describeAsset(...asset),
  }: FindTermsDependencies): FindTerms =>
  async ({ scheme: name, network, asset, payTo, extra, memoPreimage, path }) => {
    const scheme = registry.find(name, canonicalNetwork(network))
    if (scheme === null || !isServing(scheme.kind.network)) return null
    if (findPause({ ...scheme.kind, payTo }) !== null) return null
    checkTerms(scheme, { asset, payTo, extra: extra ?? {} }, { path, callerNetwork: network })
    checkUnit(scheme, extra ?? {}, path)
    const bare = asset === null ? null : canonicalAsset(scheme.kind.network, asset)
    const terms = await readTerms(scheme, () => describeAsset(scheme, bare, payTo))
    if (terms === null) return null
    const statement = await claimRules.findStatement(scheme, payTo)
    const isMemoHashed =
      statement?.demands.memo === true ||
      (findPublicProof(scheme) !== null && isMemoPreimage(extra?.memoPreimage))
    return {
      ...terms,
      isTooLarge: (amount) => scheme.network.isTooLarge(amount, terms.decimals),
      extra: {
        ...terms.extra,
        ...(statement?.demands.signedClaim === true ? { requireSignedClaim: true } : {}),
        ...(isMemoHashed ? describeMemo(extra ?? {}, memoPreimage) : {}),
      },
    }
  }

/** What the client writes, and what shows that the price was offered to it. A preimage that was drafted is kept. */
const describeMemo = ({ memoPreimage }: Extra, preset: string | undefined): Extra => {
  const preimage = isMemoPreimage(memoPreimage) ? memoPreimage : (preset ?? createMemoPreimage())
  return { memo: hashMemo(preimage), memoPreimage: preimage }
}

/** Failures of the chain are SERVICE_UNAVAILABLE. */
export const readTerms = async <Terms>(scheme: Scheme, read: () => Promise<Terms>): Promise<Terms> => {
  try {
    return await read()
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', `${scheme.kind.network} cannot be read at the moment`, {
      cause,
      retryAfterSeconds: 1,
    })
  }
}

/** What a resource server decides, also where the scheme has a default. */
const decidedByServer = ['assetTransferMethod', 'routerAddress', 'receiverAuthorizer', 'unit', 'unitPrice']

/** `extra` of requirements: the scheme's terms replace what was drafted, except what the resource server decides. */
export const completeExtra = (
  drafted: Extra | null | undefined,
  { extra, overruled = {} }: Pick<AssetTerms, 'extra' | 'overruled'>,
): Record<string, unknown> => {
  const isOverruled = (field: string, value: unknown) =>
    typeof value === 'string' && foldAddress(value) === foldAddress(overruled[field] ?? '')
  const kept = Object.entries(drafted ?? {}).filter(([field, value]) => !isOverruled(field, value))
  const decided = kept.filter(([field, value]) => decidedByServer.includes(field) && value != null)
  return { ...Object.fromEntries(kept), ...extra, ...Object.fromEntries(decided) }
}
