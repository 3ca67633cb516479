import { multicallAddress } from './abi.js'
import type { Rpc } from './rpc.js'

/** Whether Multicall3 stands on a network; a call to where it does not stand succeeds and does nothing. */
export type HasMulticall = () => Promise<boolean>

/** Asks once; what exists stays, and what does not is asked again by the next start. */
export const createHasMulticall = (rpc: Rpc): HasMulticall => {
  let known: Promise<boolean> | null = null
  return async () => {
    known ??= rpc.getCode(multicallAddress).then((code) => code !== '0x')
    const asked = known
    try {
      return await asked
    } catch {
      if (known === asked) known = null
      return false
    }
  }
}
