import { type Hex, zeroAddress, zeroHash } from 'viem'
import type { Scheme } from '../../../schemes/scheme.js'
import { readAddress } from '../abi/address.js'
import { readWord } from '../abi/words.js'
import { createPaymentMethod, type SchemeDependencies } from '../paymentMethod.js'
import type { Rpc } from '../rpc/rpc.js'
import { createDescribeToken, domainOf } from '../tokens/tokenRegistry.js'
import { builderCodeExtension } from '../transactions/builderCodes.js'
import { encodeStateCall, readJudge } from './judge.js'
import { formatAuthorizationId, readExactProof } from './payload.js'
import { createPreparer, type Prepared } from './prepare.js'

export const createExactScheme = (dependencies: SchemeDependencies): Scheme => {
  const { network, tokens } = dependencies
  const method = createPaymentMethod<Prepared>(dependencies, {
    ...createPreparer(dependencies),
    identify: (payment) => {
      const reading = readExactProof(payment.proof)
      const asset = readAddress(payment.requirements.asset)
      if ('problem' in reading || asset === null) return null
      const { from, nonce } = reading.proof.authorization
      return formatAuthorizationId({ network: network.network, asset, from, nonce })
    },
    describe: ({ candidate }) => ({ nonce: candidate.authorization.nonce }),
    readJudge,
  })

  const defaultAsset = network.tokens[0]?.address

  /**
   * Domain of the default token, for clients that sign with the kind's. Servers of `@dexterai/x402` copy it onto any
   * token; verify refuses another token's payment then, as without it, since their clients assume "USD Coin".
   * Undefined where the token is missing.
   */
  const describeDefaultDomain = () => {
    const token = defaultAsset === undefined ? null : tokens.peek(defaultAsset)
    return token === null ? undefined : domainOf(token)
  }

  return {
    ...method,
    kind: { scheme: 'exact', network: network.network },
    network: dependencies.opened,
    journalClaims: null,
    describeKind: () => ({ extra: describeDefaultDomain(), extensions: [builderCodeExtension] }),
    describeAsset: createDescribeToken(network, tokens),
  }
}

// Tokens come from requirements; one more than these is asked again.
const maxTokens = 1_000

/** Whether a token has EIP-3009, which `authorizationState` shows; asked once. */
export const createAuthorizationSupport = (rpc: Pick<Rpc, 'call'>) => {
  const known = new Map<string, boolean>()
  return async (asset: Hex): Promise<boolean> => {
    const key = asset.toLowerCase()
    const cached = known.get(key)
    if (cached !== undefined) return cached
    const answer = await rpc.call({ to: asset, data: encodeStateCall(zeroAddress, zeroHash) })
    const isSupported = answer.succeeds && readWord(answer.value) !== null
    if (known.size >= maxTokens) known.clear()
    known.set(key, isSupported)
    return isSupported
  }
}
