import { randomBytes } from 'node:crypto'
import { namespaceOf } from '../../protocol/network.js'
import type { SandboxAddress, SandboxPayment } from '../../protocol/sandbox.js'
import type { NetworkForms, OfflineScheme } from '../../schemes/offlineScheme.js'
import type { AssetTerms } from '../../schemes/scheme.js'
import type { Sandbox } from '../chain.js'
import { createRecipient, type FixedPayer, type FixedScript } from './fixedPayers.js'

const amount = '10000'
const maxTimeoutSeconds = 300

interface Terms {
  readonly terms: AssetTerms
  readonly payTo: string
  readonly readAddress: NetworkForms['readAddress']
}

/** Unsigned payments of the scheme exact in the first token of a network, to a recipient without a known key. */
export const createRequestWriter = async (
  offline: readonly OfflineScheme[],
): Promise<Sandbox['writeRequest']> => {
  const byNetwork = new Map<string, Terms>()
  for (const { kind, network, describeAsset } of offline) {
    if (kind.scheme !== 'exact') continue
    const { id, forms } = network
    const terms = await describeAsset(null, null)
    if (terms === null) throw new Error(`The scheme exact has no asset on ${id}`)
    const payTo = createRecipient(namespaceOf(id), forms)
    byNetwork.set(id, { terms, payTo, readAddress: forms.readAddress })
  }
  return (network, payer, now) => {
    const known = byNetwork.get(network)
    const address = known?.readAddress(payer) ?? null
    if (known === undefined || address === null) return null
    const { terms, payTo } = known
    const requirements = {
      scheme: 'exact',
      network,
      amount,
      asset: terms.asset,
      payTo,
      maxTimeoutSeconds,
      extra: terms.extra,
    }
    const payload =
      namespaceOf(network) === 'eip155'
        ? createAuthorization(address, payTo, now)
        : { payer: address, nonce: randomBytes(32).toString('hex') }
    return {
      paymentPayload: { payVersion: 2, x402Version: 2, accepted: requirements, payload },
      paymentRequirements: requirements,
    }
  }
}

/** As clients of EIP-3009 send it; the signature is none. */
const createAuthorization = (
  from: string,
  to: string,
  now: Date,
): NonNullable<SandboxPayment['paymentPayload']['payload']> => {
  const nowSeconds = Math.floor(now.getTime() / 1_000)
  return {
    signature: `0x${'00'.repeat(65)}`,
    authorization: {
      from,
      to,
      value: amount,
      validAfter: `${nowSeconds - 600}`,
      validBefore: `${nowSeconds + maxTimeoutSeconds}`,
      nonce: `0x${randomBytes(32).toString('hex')}`,
    },
  }
}

/** Fixed payers of a namespace. */
export interface AddressGroup {
  readonly namespace: string
  readonly networks: readonly string[]
  readonly schemes: readonly string[]
  readonly payers: readonly FixedPayer[]
}

/** Every fixed payer with a request on its first network that is ready to send; each call draws new nonces. */
export const listAddresses = (
  groups: readonly AddressGroup[],
  writeRequest: Sandbox['writeRequest'],
  now: Date,
): readonly SandboxAddress[] =>
  groups.flatMap(({ namespace, networks, schemes, payers }) =>
    payers.flatMap(({ name, address, meaning, script }) => {
      const request = writeRequest(networks[0] ?? '', address, now)
      if (request === null) return []
      return [
        {
          name,
          address,
          family: namespace,
          networks: [...networks],
          schemes: [...schemes],
          meaning,
          ...describeAnswers(script),
          request,
        },
      ]
    }),
  )

const describeAnswers = ({
  verifyRefusal,
  settleRefusal,
  settle,
}: FixedScript): Pick<SandboxAddress, 'verify' | 'settle'> => {
  const refused = verifyRefusal ?? settleRefusal
  return {
    verify: verifyRefusal === null ? { isValid: true } : { isValid: false, invalidReason: verifyRefusal },
    settle:
      refused !== null
        ? { success: false, errorReason: refused }
        : settle.pendingSeconds > 0
          ? { success: false, errorReason: 'settlement_pending', status: 'pending' }
          : { success: true },
  }
}
