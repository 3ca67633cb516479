import { base58 } from '@scure/base'
import { createKeyPairSignerFromBytes } from '@solana/kit'
import type { SchemeNetworkClient } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm'
import { ExactSvmScheme } from '@x402/svm/exact/client'
import { isHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { z } from 'zod'

interface ClientOptions {
  readonly network: string
  readonly shopUrl: string
  /** Null: no client is published for this family. */
  readonly wallet: { readonly key: string; readonly rpcUrl: string } | null
}

const signed = z.looseObject({ x402Version: z.int(), payload: z.record(z.string(), z.unknown()) })

/** The published client with this key; where there is none, the demo's process signs for its customer. */
export const openClient = async ({
  network,
  shopUrl,
  wallet,
}: ClientOptions): Promise<SchemeNetworkClient> => {
  if (wallet === null) return signAtShop(shopUrl)
  const { key, rpcUrl } = wallet
  if (network.startsWith('solana:')) {
    return new ExactSvmScheme(await createKeyPairSignerFromBytes(base58.decode(key)), { rpcUrl })
  }
  if (!isHex(key)) throw new Error('--key must be the 32 bytes of a private key as 0x…')
  return new ExactEvmScheme(privateKeyToAccount(key))
}

const signAtShop = (shopUrl: string): SchemeNetworkClient => ({
  scheme: 'exact',
  findDefaultAsset: (asset) => ({ asset, symbol: 'USDT', decimals: 6 }),
  createPaymentPayload: async (x402Version, requirements) => {
    const response = await fetch(`${shopUrl}/customer/sign`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ x402Version, requirements }),
    })
    if (!response.ok) throw new Error(`The demo did not sign: ${response.status}`)
    return signed.parse(await response.json())
  },
})
