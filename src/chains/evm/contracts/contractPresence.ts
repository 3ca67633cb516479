import { hexToBytes } from 'viem'
import { keccak } from '../abi/keccak.js'
import type { Rpc } from '../rpc/rpc.js'
import type { DeployedContract } from './deployedContract.js'

/** Deployed with other code: impossible by CREATE2, so the endpoint or the chain is not what it seems. */
export type ContractState = 'deployed' | 'absent' | 'foreign'

export const readContractState = async (
  rpc: Pick<Rpc, 'getCode'>,
  { address, codeHash }: DeployedContract,
): Promise<ContractState> => {
  const code = await rpc.getCode(address)
  if (code === '0x') return 'absent'
  return keccak(hexToBytes(code)) === codeHash ? 'deployed' : 'foreign'
}

// An operator who deploys it sees it used within this time, without a restart.
const recheckMs = 600_000

/** Whether a contract is deployed with the expected code: asked until it is, at most every ten minutes. */
export const createContractPresence = (
  rpc: Pick<Rpc, 'getCode'>,
  contract: DeployedContract,
  now: () => number = () => performance.now(),
): (() => Promise<boolean>) => {
  let known: { readonly isDeployed: boolean; readonly atMs: number } | null = null
  let asking: Promise<boolean> | null = null
  const ask = async (): Promise<boolean> => {
    try {
      const isDeployed = (await readContractState(rpc, contract)) === 'deployed'
      known = { isDeployed, atMs: now() }
      return isDeployed
    } catch {
      return false
    } finally {
      asking = null
    }
  }
  return async () => {
    if (known !== null && (known.isDeployed || now() - known.atMs < recheckMs)) return known.isDeployed
    asking ??= ask()
    return await asking
  }
}
