"""python -m weightrollout.agent"""

from weightrollout.agent.main import main

raise SystemExit(main())
