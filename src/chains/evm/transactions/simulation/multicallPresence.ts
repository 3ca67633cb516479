import { multicallAddress } from '../../abi/contracts.js'
import type { Rpc } from '../../rpc/rpc.js'

/** Whether Multicall3 is deployed: a call to an address without code succeeds without effect. */
export interface MulticallPresence {
  /** Null until a node has answered. */
  readonly known: boolean | null
  /** Asks a node once; false while none answers. */
  ask(): Promise<boolean>
}

/** Once per process; a later deployment is detected after a restart. */
export const createMulticallPresence = (rpc: Rpc): MulticallPresence => {
  let known: boolean | null = null
  let asked: Promise<boolean> | null = null
  const ask = async (): Promise<boolean> => {
    try {
      known = (await rpc.getCode(multicallAddress)) !== '0x'
      return known
    } catch {
      asked = null
      return false
    }
  }
  return {
    get known() {
      return known
    },
    ask: async () => {
      asked ??= ask()
      return await asked
    },
  }
}
