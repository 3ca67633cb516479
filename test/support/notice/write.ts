import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readLock, renderNotice } from './renderNotice.js'

const pathOf = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url))

writeFileSync(pathOf('NOTICE'), renderNotice(readLock(readFileSync(pathOf('package-lock.json'), 'utf8'))))
