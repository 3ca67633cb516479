import { base58 } from '@scure/base'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { randomAddress } from '../../support/evm/authorization.js'
import { type LocalChain, usdcAbi } from '../../support/evm/localChain.js'
import type { LocalSolana } from '../../support/solana/localChain.js'
import { createParties } from '../../support/solana/payment.js'

export type Family = 'evm' | 'solana'

/** What programs know of a family: a new, funded payer and a new payee. */
interface FamilyTerms {
  readonly network: string
  /** Name of the network in version 1. */
  readonly name: string
  readonly chainId?: number
  readonly asset: string
  readonly extra?: Readonly<Record<string, string>>
  readonly abi?: typeof usdcAbi
  readonly payTo: string
  /** In hex. */
  readonly secret: string
  /** The secret as clients of x402 version 1 take it. */
  readonly signer: string
  readonly rpcUrl: string
}

export interface Party {
  readonly terms: FamilyTerms
  /** What the payee received. */
  countReceived(): Promise<bigint>
}

export interface Chains {
  readonly evm: LocalChain
  readonly solana: LocalSolana
}

export const createParty = async (family: Family, { evm, solana }: Chains): Promise<Party> =>
  family === 'evm' ? createEvmParty(evm) : createSolanaParty(solana)

const balance = 100_000n

const createEvmParty = async (chain: LocalChain): Promise<Party> => {
  const secret = generatePrivateKey()
  const payTo = randomAddress()
  await chain.mint(privateKeyToAddress(secret), balance)
  const { verifyingContract: asset, name, version } = chain.token
  return {
    terms: {
      network: chain.network,
      name: 'base-sepolia',
      chainId: chain.chainId,
      asset,
      extra: { name, version },
      abi: usdcAbi,
      payTo,
      secret,
      signer: secret,
      rpcUrl: chain.url,
    },
    countReceived: () => chain.balanceOf(payTo),
  }
}

const createSolanaParty = async (chain: LocalSolana): Promise<Party> => {
  const { payer, payTo } = createParties(chain, balance)
  return {
    terms: {
      network: chain.network,
      name: 'solana-devnet',
      asset: chain.usdc,
      payTo,
      secret: Buffer.from(payer.secretKey).toString('hex'),
      signer: base58.encode(payer.secretKey),
      rpcUrl: chain.url,
    },
    countReceived: async () => chain.holdingOf(payTo),
  }
}
