import { listNetworkAliases } from '../../protocol/network.js'

/** `base-sepolia` becomes `Base Sepolia`, and `tron:nile`, which has no short name, `Tron Nile`. */
export const nameOfNetwork = (network: string): string => {
  const alias = listNetworkAliases(network).find(({ version }) => version === 1)?.name
  const name = alias ?? network.replace(/^([a-z]+):([a-z-]+)$/, '$1-$2')
  return name.includes(':') ? name : name.split('-').map(capitalize).join(' ')
}

const capitalize = (word: string): string =>
  /^(ton|evm|xdc|xrpl)$/.test(word) ? word.toUpperCase() : word.replace(/^./, (first) => first.toUpperCase())
