import { render } from 'preact'
import { App } from './App.js'
import { loadNetworks } from './networks.js'
import { followLinks } from './router.js'
import { resumeSession } from './session.js'

followLinks()
void loadNetworks()
void resumeSession()
const root = document.getElementById('root')
if (root !== null) render(<App />, root)
