import { render } from 'preact';
import '@xterm/xterm/css/xterm.css';
import 'uplot/dist/uPlot.min.css';
import './style.css';
import { App } from './app.tsx';

render(<App />, document.getElementById('app')!);
