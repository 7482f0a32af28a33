// The first script of the page of the labs: gets the others, and starts them.
import { startFolder } from './scripts.ts';

void startFolder();
