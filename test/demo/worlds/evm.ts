import { ExactEvmScheme } from '@x402/evm'
import { ExactEvmScheme as ExactEvmServer } from '@x402/evm/exact/server'
import { isAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startLocalChain } from '../../support/evm/localChain.js'
import { exactPayment } from '../../support/evm/payment.js'
import { uptoPayment } from '../../support/evm/upto.js'
import { deployUptoRouter } from '../../support/evm/uptoRouter.js'
import { createEoa } from '../../support/evm/wallets.js'
import type { DemoWorld } from '../world.js'

const initialBalance = 5_000_000n
const price = 10_000n

/** Anvil with one block per second, and USDC at its real address. */
export const openEvmWorld = async (): Promise<DemoWorld> => {
  const chain = await startLocalChain({ chainId: 84_532, blockTimeSeconds: 1, facilitatorCount: 1 })
  // As `npm run deploy` does: `upto` by permit, and streams, need it.
  const router = await deployUptoRouter(chain)
  const key = generatePrivateKey()
  const customer = privateKeyToAccount(key)
  const merchant = privateKeyToAccount(generatePrivateKey()).address
  const wallet = createEoa()
  await chain.mint(customer.address, initialBalance)
  await chain.mint(wallet.address, initialBalance)
  const readAddress = (text: string) => {
    if (!isAddress(text)) throw new Error(`${text} is not an address`)
    return text
  }
  const fund = (owner: string, amount: bigint) => chain.mint(readAddress(owner), amount)
  return {
    network: 'eip155:84532',
    introduction: 'A local EVM chain runs (Base Sepolia’s id), with Circle’s USDC at its real address',
    details: { rpc: chain.url, usdc: chain.token.verifyingContract, router },
    environment: {
      EVM_PRIVATE_KEY: chain.facilitators.map(({ privateKey }) => privateKey).join(','),
      EVM_RPC_URL_84532: chain.url,
      EVM_POLL_INTERVAL_MS_84532: '100',
    },
    feesPaidBy: `the facilitator, ${chain.facilitators[0]?.address}`,
    symbol: 'USDC',
    customer: customer.address,
    wallet: { key, rpcUrl: chain.url },
    merchant,
    balanceOf: (owner) => chain.balanceOf(readAddress(owner)),
    fund,
    client: new ExactEvmScheme(customer),
    server: new ExactEvmServer(),
    signPayment: async () => {
      if ((await chain.balanceOf(wallet.address)) < price) await fund(wallet.address, initialBalance)
      return await exactPayment({ chain, wallet, payTo: merchant, amount: price })
    },
    signUpto: async () => {
      const owner = createEoa()
      await fund(owner.address, price)
      return await uptoPayment({ chain, wallet: owner, router, payTo: merchant, maxAmount: price })
    },
    close: () => chain.stop(),
  }
}
