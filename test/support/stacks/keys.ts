import { randomBytes } from 'node:crypto'
import { privateKeyToAddress } from '@stacks/transactions'

export interface StacksKey {
  /** 32 bytes and the mark of a compressed public key, in hex. */
  readonly privateKey: string
  readonly address: string
}

export const createStacksKey = (network: 'mainnet' | 'testnet' = 'testnet'): StacksKey => {
  const privateKey = `${randomBytes(32).toString('hex')}01`
  return { privateKey, address: privateKeyToAddress(privateKey, network) }
}
